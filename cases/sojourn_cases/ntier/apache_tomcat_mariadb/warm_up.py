"""Requests before a run: the JVM compiles what it runs often, and a run is to measure the code that it then has."""

from __future__ import annotations

import http.client
import random
import re
import threading
import time

from sojourn.errors import ServiceError

LINK = re.compile(r'href="(/[^"]+)"')
# Pages that write nothing; a form's link ends with `=`.
READING = re.compile(
    r"/(StoriesOfTheDay|Browse|BrowseCategories|BrowseStoriesInCategory|OlderStories|ViewStory|ViewComment|Search|SearchIn\w+|Register"
    r"|PostComment|ModerateComment|SubmitStory|AuthorLogin|AuthorTask|ReviewStories)(\?.*[^=])?\??"
)
CLIENTS = 4


def warm_up(address: str, requests: int, at_most_s: float) -> int:
    """Follows links at random from `CLIENTS` threads until so many requests are answered, or the time is over; how many were.

    Raises:
        ServiceError: an answer that is no success; the page says why.
    """
    host, _, port = address.rpartition(":")
    deadline = time.monotonic() + at_most_s
    answered = [0] * CLIENTS
    faults: list[str] = []

    def client(me: int) -> None:
        draw = random.Random(me)
        links = ["/StoriesOfTheDay"]
        talk = http.client.HTTPConnection(host, int(port), timeout=10)
        try:
            while answered[me] < requests // CLIENTS and time.monotonic() < deadline and not faults:
                target = draw.choice(links)
                talk.request("GET", target)
                answer = talk.getresponse()
                text = answer.read().decode(errors="replace")
                if answer.status != 200:
                    faults.append(f"{target}: status {answer.status}: {re.sub('<[^>]*>', ' ', text).strip()[-200:]}")
                answered[me] += 1
                links = [link for link in LINK.findall(text) if READING.fullmatch(link)] or ["/StoriesOfTheDay"]
        except (OSError, http.client.HTTPException) as error:
            faults.append(f"{type(error).__name__}: {error}")
        finally:
            talk.close()

    threads = [threading.Thread(target=client, args=(me,)) for me in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise ServiceError(faults[0], f"http://{address}/", "see the logs of the tiers")
    return sum(answered)
