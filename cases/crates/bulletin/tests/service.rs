//! The service over loopback: every page, and what has to be reachable from it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use sojourn_bulletin::{serve, Config, Summary, INTERACTIONS};

/// What the transition matrices of RUBBoS have behind each page, but for what every page links to.
const BEHIND: [(&str, &[&str]); 18] = [
    ("StoriesOfTheDay", &["ViewStory"]),
    ("Register", &["RegisterUser"]),
    ("Browse", &["BrowseCategories", "OlderStories"]),
    ("BrowseCategories", &["BrowseStoriesInCategory"]),
    ("BrowseStoriesInCategory", &["BrowseStoriesInCategory", "ViewStory"]),
    ("OlderStories", &["OlderStories", "ViewStory"]),
    ("ViewStory", &["ModerateComment", "PostComment", "ViewComment"]),
    ("PostComment", &["StoreComment"]),
    ("ViewComment", &["ModerateComment", "PostComment", "ViewComment"]),
    ("ModerateComment", &["StoreModerateLog"]),
    ("SubmitStory", &["StoreStory"]),
    ("Search", &["SearchInComments", "SearchInStories", "SearchInUsers"]),
    ("SearchInStories", &["SearchInStories", "ViewStory"]),
    ("SearchInComments", &["SearchInComments", "ViewComment"]),
    ("SearchInUsers", &["SearchInUsers", "ViewStory"]),
    ("AuthorLogin", &["AuthorTask"]),
    ("AuthorTask", &["ReviewStories"]),
    ("ReviewStories", &["AcceptStory", "RejectStory"]),
];
const EVERYWHERE: [&str; 6] =
    ["StoriesOfTheDay", "Browse", "Search", "Register", "SubmitStory", "AuthorLogin"];

fn config() -> Config {
    Config {
        listen: "127.0.0.1:0".into(),
        metrics: None,
        workers: 2,
        page_work_s: 0.0,
        database: None,
        pool: 1,
        timeout_s: 5.0,
        scale: 0.001,
        seed: 5,
        clients: 100,
        queue: 100,
        idle_s: 60.0,
        traces: None,
        trace_share: 1.0,
    }
}

/// Does something with a running service; what it said at its end.
fn with_service(config: &Config, act: impl FnOnce(&str)) -> Summary {
    let (stop, (told, address)) = (AtomicBool::new(false), mpsc::channel());
    std::thread::scope(|scope| {
        let service =
            scope.spawn(|| serve(config, &stop, &mut |ready| told.send(ready.address.clone()).unwrap()));
        act(&address.recv().expect("it listens"));
        stop.store(true, Ordering::Relaxed);
        service.join().unwrap().expect("it served")
    })
}

/// A page over a connection that stays.
struct Browser(TcpStream);

impl Browser {
    fn get(&mut self, target: &str) -> (u16, String) {
        // In one piece: Nagle's algorithm would hold back a second one.
        let request = format!("GET {target} HTTP/1.1\r\nHost: board\r\n\r\n");
        self.0.write_all(request.as_bytes()).unwrap();
        let (mut text, mut bytes) = (Vec::new(), [0; 4096]);
        loop {
            let count = self.0.read(&mut bytes).unwrap();
            assert!(count > 0, "{target}: the service has closed");
            text.extend_from_slice(&bytes[..count]);
            let whole = String::from_utf8_lossy(&text);
            let Some((head, body)) = whole.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
            if body.len() == length.parse::<usize>().unwrap() {
                return (head[9..12].parse().unwrap(), body.into());
            }
        }
    }
}

fn links<'a>(page: &'a str, interaction: &str) -> Vec<&'a str> {
    let targets = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let is = |target: &&str| target[1..].split('?').next() == Some(interaction);
    targets.filter(is).collect()
}

/// Ten rounds from page to page, so that the last pages of lists and comments without replies come up too.
#[test]
fn every_page_leads_to_what_the_matrices_have_behind_it() {
    let mut asked = 0;
    let summary = with_service(&config(), |address| {
        let mut browser = Browser(TcpStream::connect(address).unwrap());
        for round in 0..10 {
            let mut found: Vec<(&str, String)> = EVERYWHERE.map(|name| (name, format!("/{name}"))).to_vec();
            let mut at = 0;
            while at < found.len() && at < 200 {
                let (name, target) = found[at].clone();
                let wanted = if target.ends_with('=') { target + "a%20text+%3Cb%3E" } else { target };
                let (status, page) = browser.get(&wanted);
                asked += 1;
                assert_eq!(status, 200, "{wanted}: {page}");
                EVERYWHERE
                    .iter()
                    .for_each(|name| assert!(!links(&page, name).is_empty(), "{wanted}: {name}"));
                let behind = BEHIND.iter().find(|(from, _)| *from == name).map_or(&[][..], |(_, to)| *to);
                for next in behind {
                    let there = links(&page, next);
                    assert!(!there.is_empty(), "{wanted} has no {next}: {page}");
                    let chosen = there[(round * 7 + at) % there.len()];
                    found.push((next, chosen.into()));
                }
                at += 1;
            }
        }
    });
    assert_eq!((summary.completions, summary.statuses.get(&200)), (asked, Some(&asked)));
    assert!(INTERACTIONS.iter().all(|name| summary.by_kind[*name] > 0), "{:?}", summary.by_kind);
    assert_eq!((summary.clients_accepted, summary.refused), (1, 0));
}

#[test]
fn what_is_written_is_there_and_what_is_wrong_is_told() {
    let summary = with_service(&config(), |address| {
        let mut browser = Browser(TcpStream::connect(address).unwrap());
        let page = browser
            .get("/StoreComment?nickname=user3&password=password3&storyId=1&parent=0&subject=new&body=x%3Cy")
            .1;
        let id = page.split("comment ").nth(1).and_then(|rest| rest.split('<').next()).unwrap().to_owned();
        let page = browser.get(&format!("/ViewComment?storyId=1&commentId={id}")).1;
        assert!(page.contains("x&lt;y") && page.contains("by user3"), "{page}");
        let rated = format!("/StoreModerateLog?nickname=user1&password=password1&commentId={id}&rating=1");
        assert!(browser.get(&rated).1.contains("rated"));
        assert!(browser.get(&format!("/ViewComment?storyId=1&commentId={id}")).1.contains("rated 1"));
        // User 60 is no author.
        let reader = format!("/StoreModerateLog?nickname=user60&password=password60&commentId={id}&rating=1");
        assert!(browser.get(&reader).1.contains("only authors"));
        assert!(browser
            .get("/StoreStory?nickname=user3&password=wrong&body=x")
            .1
            .contains("password is wrong"));
        assert!(browser.get("/RegisterUser?nickname=user3&password=x").1.contains("another nickname"));
        assert_eq!(browser.get("/ViewStory?storyId=999999").0, 404);
        assert_eq!(browser.get("/viewstory").0, 404);
        // Two requests at once: both are answered, in their order.
        browser
            .0
            .write_all(b"GET /Browse HTTP/1.1\r\nHost: x\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut both = String::new();
        browser.0.read_to_string(&mut both).unwrap();
        assert!(both.starts_with("HTTP/1.1 200") && both.contains("HTTP/1.1 404"), "{both}");
    });
    assert_eq!(summary.by_kind["other"], 2);
}

/// Issue 26: a comment on a story that is not there was acknowledged, and nobody could ever read it.
#[test]
fn what_is_written_to_what_is_not_there_is_refused() {
    with_service(&config(), |address| {
        let mut browser = Browser(TcpStream::connect(address).unwrap());
        let before = browser.get("/ModerateComment?commentId=0").1;
        let user = "nickname=user3&password=password3&subject=lost&body=x";
        let author = "nickname=user1&password=password1";
        for (target, why) in [
            (format!("/StoreComment?{user}&storyId=999999&parent=0"), "no story 999999"),
            (format!("/StoreComment?{user}"), "no story 0"),
            (format!("/StoreComment?{user}&storyId=1&parent=999999"), "no story 1 with a comment 999999"),
            // Comment 1 is on story 1.
            (format!("/StoreComment?{user}&storyId=2&parent=1"), "no story 2 with a comment 1"),
            (format!("/StoreComment?{user}&storyId=1&parent=x"), "no comment x"),
            (format!("/StoreStory?{user}&category=21&title=t"), "no category 21"),
            (format!("/StoreStory?{user}&title=t"), "no category "),
            (format!("/StoreModerateLog?{author}&commentId=999999&rating=1"), "no comment 999999"),
            (format!("/StoreModerateLog?{author}&commentId=1&rating=2"), "no rating 2"),
            (format!("/StoreModerateLog?{author}&commentId=1&rating="), "no rating "),
            ("/ViewComment?storyId=999999&commentId=0".into(), "no story 999999"),
            ("/ViewComment?storyId=2&commentId=1".into(), "no story 2 with a comment 1"),
            ("/BrowseStoriesInCategory?category=21&page=0".into(), "no category 21"),
        ] {
            let (status, page) = browser.get(&target);
            assert_eq!((status, page.contains(&format!("<p>{why}</p>"))), (404, true), "{target}: {page}");
        }
        let newest = |page: &str| links(page, "ViewComment")[0].to_owned();
        let after = browser.get("/ModerateComment?commentId=0").1;
        assert_eq!(newest(&after), newest(&before), "nothing was stored");
    });
}

#[test]
fn an_idle_client_is_disconnected_and_one_that_asks_is_not() {
    let idle = Config { idle_s: 0.3, page_work_s: 0.0, ..config() };
    let summary = with_service(&idle, |address| {
        let (mut silent, mut asks) =
            (TcpStream::connect(address).unwrap(), TcpStream::connect(address).unwrap());
        // Half a request, a byte of it now and then, is none.
        let trickle = TcpStream::connect(address).unwrap();
        let mut closed = None;
        for round in 0..40 {
            asks.write_all(b"GET /Browse HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            let mut bytes = [0; 65_536];
            assert!(asks.read(&mut bytes).unwrap() > 0);
            let _ = (&trickle).write(b"G");
            silent.set_nonblocking(true).unwrap();
            if silent.read(&mut bytes).is_ok_and(|count| count == 0) {
                closed = Some(round);
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        assert!(closed.is_some_and(|round| round >= 5), "{closed:?}");
        trickle.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
        let mut rest = Vec::new();
        let ended = (&trickle).read_to_end(&mut rest);
        assert!(
            ended.is_ok() && rest.is_empty()
                || ended.is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset)
        );
    });
    assert_eq!(summary.clients_accepted, 3);
}
