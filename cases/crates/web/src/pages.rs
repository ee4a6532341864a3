//! The pages: each is its own content first, then further items and reviews up to the stated size.

use std::fmt::Write;

use crate::catalogue::{Catalogue, CatalogueItem, CATEGORIES};
use crate::html::{escape, escaped, HtmlBuilder};
use crate::route::Page;

/// Longest part of a search that is shown and looked for.
const QUERY_CHARS: usize = 32;
/// Most items in a cart.
const CART_ITEMS: usize = 20;

/// Makes a page of `size_bytes` in `sheet`; the new cart if the page changes it. A status if there is none.
pub(crate) fn render(
    page: &Page,
    cookie: &str,
    catalogue: &Catalogue,
    size_bytes: usize,
    sheet: &mut HtmlBuilder,
) -> Result<Option<String>, u16> {
    let mut shop = Shop { catalogue, sheet, size_bytes };
    match page {
        Page::Catalogue => shop.everything(),
        Page::Category(number) => shop.category(*number)?,
        Page::Item(number) => shop.item(*number)?,
        Page::Search(query) => shop.search(query),
        Page::Cart(add) => return shop.cart(*add, cookie).map(Some),
        Page::Health => {
            shop.sheet.text.clear();
            shop.sheet.text.push_str("ok\n");
        }
        Page::Wait | Page::Metrics => return Err(404), // they are the backend's
    }
    Ok(None)
}

struct Shop<'a> {
    catalogue: &'a Catalogue,
    sheet: &'a mut HtmlBuilder,
    size_bytes: usize,
}

impl Shop<'_> {
    fn everything(&mut self) {
        self.sheet.begin(self.size_bytes, "Everything");
        self.list(|_| true);
    }

    /// Rows of the items that are wanted, then the rest of the page.
    fn list(&mut self, wanted: impl Fn(&CatalogueItem) -> bool) {
        let items = &self.catalogue.items;
        let mut found = items.iter().enumerate().filter(|(_, item)| wanted(item));
        let room = found.all(|(number, item)| self.sheet.add(|out| row(number, item, out)));
        self.fill(0, room);
    }

    fn category(&mut self, number: usize) -> Result<(), u16> {
        let name = CATEGORIES.get(number).ok_or(404u16)?;
        self.sheet.begin(self.size_bytes, name);
        self.list(|item| item.category == number);
        Ok(())
    }

    fn item(&mut self, number: usize) -> Result<(), u16> {
        let item = self.catalogue.items.get(number).ok_or(404u16)?;
        self.sheet.begin(self.size_bytes, &item.name);
        self.sheet.add(|out| {
            row(number, item, out);
            let _ = writeln!(out, "<a href=\"/cart?add={number}\">Into the cart</a>");
        });
        self.fill(number, true);
        Ok(())
    }

    fn search(&mut self, query: &str) {
        let shown: String = query.chars().take(QUERY_CHARS).collect();
        let word = shown.to_lowercase();
        let found = self.catalogue.items.iter().filter(|item| item.key.contains(&word)).count();
        self.sheet.begin(self.size_bytes, "Search");
        self.sheet.add(|out| {
            let _ = writeln!(out, "<p>{found} found for <q>{}</q></p>", escaped(&shown));
        });
        self.list(|item| item.key.contains(&word));
    }

    fn cart(&mut self, add: Option<usize>, cookie: &str) -> Result<String, u16> {
        let items = &self.catalogue.items;
        let mut cart = cart_of(cookie, items.len());
        if let Some(number) = add {
            items.get(number).ok_or(404u16)?;
            cart.push(number);
            let surplus = cart.len().saturating_sub(CART_ITEMS);
            cart.drain(..surplus);
        }
        let total: u64 = cart.iter().map(|&number| items[number].price_cents).sum();
        self.sheet.begin(self.size_bytes, "Your cart");
        self.sheet.add(|out| {
            let _ = writeln!(out, "<p>{} items, together {}.{:02}</p>", cart.len(), total / 100, total % 100);
        });
        let room = cart.iter().all(|&number| self.sheet.add(|out| row(number, &items[number], out)));
        self.fill(cart.last().copied().unwrap_or(0), room);
        let numbers: Vec<String> = cart.iter().map(usize::to_string).collect();
        Ok(numbers.join("."))
    }

    /// Reviews and related items until the page is full, then its end.
    fn fill(&mut self, seed: usize, mut room: bool) {
        let (items, reviews) = (&self.catalogue.items, &self.catalogue.reviews);
        let mut turn = seed;
        while room {
            turn = turn.wrapping_add(1);
            room = self.sheet.add(|out| {
                let review = &reviews[turn.wrapping_mul(31) % reviews.len()];
                let _ = write!(out, "<blockquote data-stars=\"{}\">", review.stars);
                escape(&review.text, out);
                let _ = writeln!(out, " <cite>{}</cite></blockquote>", escaped(review.author));
            }) && self.sheet.add(|out| {
                let number = turn.wrapping_mul(17) % items.len();
                row(number, &items[number], out);
            });
        }
        self.sheet.end();
    }
}

fn row(number: usize, item: &CatalogueItem, out: &mut String) {
    let _ = write!(out, "<article><a href=\"/item/{number}\">");
    escape(&item.name, out);
    let _ = write!(out, "</a> <b>{}.{:02}</b> ", item.price_cents / 100, item.price_cents % 100);
    escape(&item.description, out);
    let _ = write!(out, " <a href=\"/category/{}\">", item.category);
    escape(CATEGORIES[item.category], out);
    out.push_str("</a></article>\n");
}

/// The cart in a cookie header, `cart=1.5.7`; what is not an item is left out.
fn cart_of(cookie: &str, items: usize) -> Vec<usize> {
    let pairs = cookie.split(';').filter_map(|pair| pair.trim().split_once('='));
    let list = pairs.into_iter().find(|(name, _)| *name == "cart").map_or("", |(_, value)| value);
    let numbers = list.split('.').filter_map(|n| n.parse().ok()).filter(|n| *n < items);
    numbers.take(CART_ITEMS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(page: &Page, cookie: &str, size_bytes: usize) -> (String, Option<String>) {
        let mut sheet = HtmlBuilder::default();
        let cart = render(page, cookie, &Catalogue::new(1, 500), size_bytes, &mut sheet).unwrap();
        (sheet.text, cart)
    }

    #[test]
    fn every_page_has_exactly_its_size() {
        let longest = "\"".repeat(100);
        let pages = [
            Page::Catalogue,
            Page::Category(3),
            Page::Item(499),
            Page::Search("oak".into()),
            Page::Search(longest),
            Page::Cart(Some(2)),
            Page::Cart(None),
        ];
        for size in [1024, 8192, 204_800] {
            for wanted in &pages {
                assert_eq!(page(wanted, "cart=1.2.3.4.5", size).0.len(), size, "{wanted:?}");
            }
        }
    }

    #[test]
    fn a_page_shows_what_it_is_about() {
        let shop = Catalogue::new(1, 500);
        let (text, _) = page(&Page::Item(7), "", 4096);
        assert!(text.contains(&format!("<h1>{}</h1>", escaped(&shop.items[7].name))));
        let (text, _) = page(&Page::Category(0), "", 4096);
        assert!(text.contains("<h1>Kitchen &amp; Table</h1>"));
        let kettles = shop.items.iter().filter(|item| item.key.contains("kettle")).count();
        let (text, _) = page(&Page::Search("KETTLE".into()), "", 8192);
        assert!(text.contains(&format!("{kettles} found for <q>KETTLE</q>")));
        let (text, _) = page(&Page::Search("<script>".into()), "", 4096);
        assert!(text.contains("0 found for <q>&lt;script&gt;</q>") && !text.contains("<script"));
        assert_eq!(page(&Page::Health, "", 4096).0, "ok\n");
    }

    #[test]
    fn a_cart_grows_by_what_is_added_and_has_a_total() {
        let shop = Catalogue::new(1, 500);
        let (text, cart) = page(&Page::Cart(Some(9)), "a=b; cart=3.x.600.4", 4096);
        assert_eq!(cart.as_deref(), Some("3.4.9"));
        let total: u64 = [3, 4, 9].iter().map(|&n: &usize| shop.items[n].price_cents).sum();
        assert!(text.contains(&format!("3 items, together {}.{:02}", total / 100, total % 100)));
        let full = (0..20).map(|n| n.to_string()).collect::<Vec<_>>().join(".");
        let (_, cart) = page(&Page::Cart(Some(99)), &format!("cart={full}"), 4096);
        assert!(cart.unwrap().starts_with("1.2.3.") && CART_ITEMS == 20);
    }

    #[test]
    fn what_is_not_on_sale_is_not_found() {
        let shop = Catalogue::new(1, 10);
        for wanted in [Page::Item(10), Page::Category(8), Page::Cart(Some(10))] {
            assert_eq!(render(&wanted, "", &shop, 4096, &mut HtmlBuilder::default()), Err(404));
        }
    }
}
