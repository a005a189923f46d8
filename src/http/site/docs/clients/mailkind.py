"""The mailkind client for Python 3.9 and later. It is one file and needs only the standard library.

    from mailkind import Mailkind

    client = Mailkind(os.environ["MK_API_KEY"])
    answer = client.check_email("jane@gmail.com")
    print(answer.result["recommendation"] if answer.outcome == "checked" else answer.because)

No method raises because a check failed: the outcome says so. Only wrong options raise, as `TypeError` or `ValueError`. The
progress and the results of a job raise a `JobError` when they end early.
A client may be shared by threads. No outcome, error or text holds the key. With asyncio, use `AsyncMailkind`:

    client = AsyncMailkind(os.environ["MK_API_KEY"])
    answer = await client.check_email("jane@gmail.com")
"""

from __future__ import annotations

import asyncio
import copy
import email.utils
import functools
import http.client
import json
import os
import random
import re
import secrets
import socket
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import OrderedDict, deque
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from typing import (
    TYPE_CHECKING, Any, AsyncIterator, Awaitable, BinaryIO, Callable, Deque, Dict, Generic, Iterable, Iterator, List, Literal, Mapping,
    Optional, Sequence, Tuple, TypedDict, TypeVar, Union, cast,
)

if sys.version_info >= (3, 10):
    from typing import Concatenate, ParamSpec

    P = ParamSpec("P")
elif TYPE_CHECKING:  # type checkers know this module without an installation
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

__all__ = [
    "Mailkind", "AsyncMailkind", "Checked", "Unchecked", "CheckedItem", "UncheckedItem", "Answered", "Unanswered", "Outcome", "ItemOutcome",
    "Progress", "CheckResult", "BatchItemResult", "CATEGORIES", "RECOMMENDATIONS", "POLICIES", "REASONS", "PROBLEM_CODES",
    "CAUSES", "Job", "AsyncJob", "JobError", "OwnList", "AsyncOwnList",
]

#: The server that this file comes from.
SERVER_URL = "http://localhost:3000"

# A later version of the API may send more values than these.
#: What an address can be.
CATEGORIES: Tuple[str, ...] = ()
#: What to do about an address.
RECOMMENDATIONS: Tuple[str, ...] = ()
#: The policies that `policy` takes.
POLICIES: Tuple[str, ...] = ()
#: The codes in `reasons`.
REASONS: Tuple[str, ...] = ()
#: The codes of problems.
PROBLEM_CODES: Tuple[str, ...] = ()
#: Limits of the API.
BATCH_ITEMS_MAX = 0
BATCH_ITEM_LENGTH_MAX = 0
BATCH_BODY_BYTES_MAX = 0

#: Why there is no answer, or none that counts.
CAUSES: Mapping[str, str] = {
    "timeout": "The server did not answer in time.",
    "unreachable": "There is no connection to the server.",
    "malformed": "What answered is not the API, or its answer was cut off.",
    "rate_limited": "Too many requests.",
    "quota_exceeded": "Today's units are used up.",
    "server_error": "The server failed or is overloaded.",
    "refused": "The key or the request is wrong. `problem` says what is.",
    "invalid_subject": "The input is missing, empty, too long or not text, or has characters that no address can have. Refuse it.",
}

_BACKOFF_FIRST = 0.5
_BACKOFF_MAX = 16.0
_JITTER_MAX = 1.0
_ANSWER_BYTES_MAX = 4_194_304
_GIVEN_UP_MAX = 5
_UPLOAD_TIMEOUT = 3600.0
#: The pauses between two looks at a job: growing while it runs, and the last one while it is stopped.
_LOOK_FIRST, _LOOK_GROWTH, _LOOK_MAX, _LOOK_STOPPED = 0.5, 1.5, 5.0, 60.0
_FRAME_BYTES = 256
_UNSENDABLE = "The item is not a text, or is longer than the API takes. It was not sent."


# The server writes the types of its verdicts here.
Hint = Dict[str, Any]
CheckResult = Dict[str, Any]
BatchItemResult = Dict[str, Any]
# Until here.


R = TypeVar("R")


@dataclass(frozen=True)
class Failure:
    """What is known of a request that got no answer that counts. `message` holds neither the key nor what was checked."""

    because: str
    message: str
    problem: Optional[Mapping[str, Any]] = None
    status: Optional[int] = None
    #: After how many seconds the server wants to be asked again.
    retry_after: Optional[float] = None
    #: Which id the server logged the request by. All tries of a call have the same one.
    request_id: str = ""


@dataclass(frozen=True)
class Checked:
    """A check with its result. `request_id` is empty if the result was kept in memory."""

    result: CheckResult
    request_id: str
    outcome: Literal["checked"] = "checked"


@dataclass(frozen=True)
class Unchecked(Failure):
    """A check without an answer. Let the person in, and check the address later. Only `invalid_subject` is about what the person
    entered: refuse that."""

    outcome: Literal["unchecked"] = "unchecked"


@dataclass(frozen=True)
class CheckedItem:
    """An item of a batch with its result. `index` counts from 0, over all items."""

    result: BatchItemResult
    request_id: str
    index: int
    item: str
    outcome: Literal["checked"] = "checked"


@dataclass(frozen=True)
class UncheckedItem(Failure):
    """An item of a batch without an answer."""

    outcome: Literal["unchecked"] = "unchecked"
    index: int = 0
    item: str = ""


@dataclass(frozen=True)
class Answered:
    """How `feedback`, `rules`, `usage`, `health` and the methods of `jobs` and of lists end with an answer."""

    result: Any
    request_id: str
    outcome: Literal["answered"] = "answered"


@dataclass(frozen=True)
class Unanswered(Failure):
    """How they end without one."""

    outcome: Literal["unanswered"] = "unanswered"


@dataclass(frozen=True)
class Progress:
    """How far a batch is. `total` is known if the items have a length."""

    done: int
    checked: int
    unchecked: int
    total: Optional[int]


Outcome = Union[Checked, Unchecked]
ItemOutcome = Union[CheckedItem, UncheckedItem]
Reply = Union[Answered, Unanswered]

#: A whole list: the path of a file, its bytes, or a file that is open for reading bytes.
File = Union[str, "os.PathLike[str]", bytes, BinaryIO]


@dataclass(frozen=True)
class _Answer:
    value: Any
    max_age: float
    request_id: str


@dataclass(frozen=True)
class _Call:
    path: str
    body: Optional[str]
    is_answer: Callable[[Any], bool]
    retries: int
    timeout: float
    #: Whether all tries and waits together end within `timeout`: somebody waits.
    has_deadline: bool
    #: Ends the waits between tries.
    cancelled: threading.Event
    method: Optional[str] = None
    #: A list to upload, instead of `body`. Without an idempotency key it is only sent again when the server has refused it: it must
    #: not be checked twice.
    file: Optional[File] = None
    idempotency_key: Optional[str] = None


class _Platform:
    """The clock, the waits and chance. Tests replace them."""

    now = staticmethod(time.monotonic)
    random = staticmethod(random.random)

    def new_id(self) -> str:
        return "mkc_" + secrets.token_hex(16)

    def wait(self, done: threading.Event, seconds: float) -> bool:
        """Waits for an answer. Whether it came."""
        return done.wait(seconds)

    def pause(self, cancelled: threading.Event, seconds: float) -> bool:
        """Waits between two tries. Whether the wait was cut short."""
        return cancelled.wait(seconds)


class _Secret:
    """Keeps a key out of every text of the objects that hold it."""

    __slots__ = ("header",)

    def __init__(self, key: str) -> None:
        self.header = {"Authorization": "Bearer " + key} if key else {}

    def __repr__(self) -> str:
        return "<key>"

    def __reduce__(self) -> Any:
        raise TypeError("mailkind: a client cannot be pickled. Create one in each process.")


class _AnyStatus(urllib.request.HTTPErrorProcessor):
    """Every status is an answer, and no redirection is followed: the key is for this server alone."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


class _EarlyAnswer:
    """A server may refuse a list and close before all of it is sent. What it said is still read."""

    def send(self, data: Any) -> None:
        try:
            super().send(data)  # type: ignore[misc]
        except (BrokenPipeError, ConnectionResetError):
            pass


class _PlainConnection(_EarlyAnswer, http.client.HTTPConnection):
    pass


class _TlsConnection(_EarlyAnswer, http.client.HTTPSConnection):
    pass


class _Plain(urllib.request.HTTPHandler):
    def http_open(self, req: Any) -> Any:
        return self.do_open(_PlainConnection, req)


class _Tls(urllib.request.HTTPSHandler):
    def https_open(self, req: Any) -> Any:
        return self.do_open(_TlsConnection, req)


class _Cache(Generic[R]):
    """Keeps values in memory until they expire: at most so many, and those used last."""

    def __init__(self, entries_max: int) -> None:
        self._entries: OrderedDict[str, Tuple[R, float]] = OrderedDict()
        self._entries_max = entries_max
        self._lock = threading.Lock()

    def get(self, key: str, now: float) -> Optional[R]:
        with self._lock:
            entry = self._entries.pop(key, None)
            if entry is None or entry[1] <= now:
                return None
            self._entries[key] = entry
            return entry[0]

    def set(self, key: str, value: R, expires_at: float) -> None:
        with self._lock:
            self._entries.pop(key, None)
            self._entries[key] = (value, expires_at)
            while len(self._entries) > self._entries_max:
                self._entries.popitem(last=False)


class _Batch:
    """What all requests of a batch share."""

    def __init__(
        self, policy: Optional[str], mail: Optional[bool], retries: int, timeout: float, cancelled: threading.Event
    ) -> None:
        self.policy, self.mail, self.retries, self.timeout = policy, mail, retries, timeout
        self.stopped: Optional[Failure] = None
        self.given_up_in_a_row = 0
        self.cancelled = cancelled
        self.lock = threading.Lock()


class Mailkind:
    """A client of a mailkind server.

    `key`: a secret key. Without a key only test addresses are checked.
    `url`: the address of the server. If absent, the server that this file was loaded from.
    `timeout`: how many seconds a call waits in all (5), and each try of a batch (30).
    `retries`: how often a call other than a batch is tried again.
    `retry_wait_max`: a `Retry-After` of more seconds is not waited for.
    `cache_entries_max`: how many results are kept in memory. Only answers whose `Cache-Control` allows it are. 0: none.
    `on_unchecked`: is called for every check and item that ends unchecked: to log it and to count it. Threads can share it.
    """

    def __init__(
        self,
        key: Optional[str] = None,
        *,
        url: str = SERVER_URL,
        timeout: Optional[float] = None,
        retries: int = 0,
        retry_wait_max: float = 60.0,
        cache_entries_max: int = 1000,
        on_unchecked: Optional[Callable[[Unchecked], None]] = None,
        _platform: Optional[_Platform] = None,
    ) -> None:
        self._secret = _Secret(_read_key(key))
        self._url = _read_url(url)
        self._timeout = 5.0 if timeout is None else _read_seconds("timeout", timeout)
        self._batch_timeout = 30.0 if timeout is None else self._timeout
        self._retries = _read_count("retries", retries, 0)
        self._retry_wait_max = _read_seconds("retry_wait_max", retry_wait_max, True)
        self._cache: _Cache[CheckResult] = _Cache(_read_count("cache_entries_max", cache_entries_max, 0))
        self._on_unchecked = on_unchecked
        self._platform = _platform or _Platform()
        self._opener = urllib.request.build_opener(_AnyStatus, _Plain, _Tls)
        self._lock = threading.Lock()
        self._counts = {name: 0 for name in ("checked", "unchecked", "cached", "requests", "retries")}
        self._causes = {cause: 0 for cause in CAUSES}

    def __repr__(self) -> str:
        return f"Mailkind(url={self._url!r})"

    def check(
        self,
        *,
        email: Optional[str] = None,
        domain: Optional[str] = None,
        url: Optional[str] = None,
        policy: Optional[str] = None,
        deep: Optional[bool] = None,
        workspace: Optional[bool] = None,
        mail: Optional[bool] = None,
        timeout: Optional[float] = None,
        retries: Optional[int] = None,
    ) -> Outcome:
        """Checks one input: exactly one of `email`, `domain` and `url`. `deep` adds the domain's age and a homepage check,
        `workspace=False` skips the look-up of the suite_b tenant, and `mail=False` asks DNS only for what decides the verdict:
        `mail`, `workspace` and `integrations` hold only that."""
        given = {
            "email": email, "domain": domain, "url": url, "policy": policy, "deep": deep, "workspace": workspace, "mail": mail,
        }
        outcome = self._check(given, timeout, retries)
        self._tell(outcome)
        return outcome

    def check_email(
        self,
        email: str,
        *,
        policy: Optional[str] = None,
        deep: Optional[bool] = None,
        workspace: Optional[bool] = None,
        mail: Optional[bool] = None,
        timeout: Optional[float] = None,
        retries: Optional[int] = None,
    ) -> Outcome:
        """Checks an email address."""
        return self.check(
            email=email, policy=policy, deep=deep, workspace=workspace, mail=mail, timeout=timeout, retries=retries
        )

    def batch(
        self,
        items: Iterable[str],
        *,
        policy: Optional[str] = None,
        mail: Optional[bool] = None,
        concurrency: int = 4,
        retries: int = 4,
        timeout: Optional[float] = None,
        on_progress: Optional[Callable[[Progress], None]] = None,
    ) -> Iterator[ItemOutcome]:
        """Checks any number of items, in order. Iterate over it, which keeps only a few requests in memory, or make a `list` of it.
        At most `concurrency` requests are sent at once. `mail=False` is that of `check`. `on_progress` is
        called with the items that are done."""
        return _flattened(self._batch(items, policy, mail, concurrency, retries, timeout, on_progress))

    def feedback(
        self,
        *,
        expected_category: str,
        email: Optional[str] = None,
        domain: Optional[str] = None,
        comment: Optional[str] = None,
        timeout: Optional[float] = None,
        retries: Optional[int] = None,
        idempotency_key: Optional[str] = None,
    ) -> Reply:
        """Reports a wrong verdict for exactly one of `email` and `domain`. The same report with the same `idempotency_key` gets the
        first answer for a day."""
        report = {"expected_category": expected_category, "email": email, "domain": domain, "comment": comment}
        return self._reply("/v1/feedback", report, timeout, retries, idempotency_key=idempotency_key)

    def rules(self, *, timeout: Optional[float] = None, retries: Optional[int] = None) -> Reply:
        """What the account recommends instead of the policy."""
        return self._reply("/v1/rules", None, timeout, retries)

    def set_rules(
        self, rules: Mapping[str, Optional[str]], *, timeout: Optional[float] = None, retries: Optional[int] = None
    ) -> Reply:
        """Replaces all rules of the account: what is left out has none."""
        return self._reply("/v1/rules", {"rules": dict(rules)}, timeout, retries, method="PUT")

    def usage(self, *, timeout: Optional[float] = None, retries: Optional[int] = None) -> Reply:
        """The limits and the units of the account."""
        return self._reply("/v1/usage", None, timeout, retries)

    def health(self, *, timeout: Optional[float] = None, retries: Optional[int] = None) -> Reply:
        """The state of the server."""
        return self._reply("/v1/health", None, timeout, retries)

    @property
    def jobs(self) -> "_Jobs":
        """Whole lists: upload, watch, download."""
        return _Jobs(self)

    @property
    def block_list(self) -> "OwnList":
        """The entries that are always blocked."""
        return OwnList(self, "/v1/block-list")

    @property
    def allow_list(self) -> "OwnList":
        """The entries that are always allowed."""
        return OwnList(self, "/v1/allow-list")

    def stats(self) -> Dict[str, Any]:
        """What the client has counted since it was created. Checks and items of batches are counted alike."""
        with self._lock:
            return {**self._counts, "unchecked_because": dict(self._causes)}

    def _single(
        self, path: str, body: Optional[str], is_answer: Callable[[Any], bool], timeout: Optional[float], retries: Optional[int]
    ) -> _Call:
        seconds = self._timeout if timeout is None else _read_seconds("timeout", timeout)
        tries = self._retries if retries is None else _read_count("retries", retries, 0)
        return _Call(path, body, is_answer, tries, seconds, True, threading.Event())

    def _check(self, given: Mapping[str, Any], timeout: Optional[float], retries: Optional[int]) -> Outcome:
        subject = _read_subject(given)
        if subject is None:
            return Unchecked("invalid_subject", CAUSES["invalid_subject"])
        body = _body_of({**given, **subject})
        if body is None:
            return Unchecked("refused", _UNSENDABLE)
        kept = self._cache.get(body, self._platform.now())
        if kept is not None:
            self._count("cached")
            return Checked(copy.deepcopy(kept), "")  # a caller may change what it gets
        ended = self._ask(self._single("/v1/check", body, _is_verdict, timeout, retries))
        if isinstance(ended, Failure):
            is_theirs = _is_about_subject(ended, subject, given["policy"])
            return Unchecked(**{**asdict(ended), "because": "invalid_subject" if is_theirs else ended.because})
        result = cast(CheckResult, ended.value)
        workspace = result.get("workspace")
        # Less evidence than usual is not kept.
        is_whole = not result.get("degraded") and not (isinstance(workspace, dict) and workspace.get("pending"))
        if ended.max_age > 0 and is_whole:
            self._cache.set(body, copy.deepcopy(result), self._platform.now() + ended.max_age)
        return Checked(result, ended.request_id)

    def _reply(
        self,
        path: str,
        given: Optional[Mapping[str, Any]] = None,
        timeout: Optional[float] = None,
        retries: Optional[int] = None,
        *,
        method: Optional[str] = None,
        file: Optional[File] = None,
        idempotency_key: Optional[str] = None,
        is_answer: Callable[[Any], bool] = lambda value: isinstance(value, dict),
    ) -> Reply:
        body = None if given is None else _body_of(given)
        if given is not None and body is None:
            return Unanswered("refused", _UNSENDABLE)
        call = self._single(path, body, is_answer, timeout, retries)
        key = _read_idempotency_key(idempotency_key)
        ended = self._ask(replace(call, method=method, file=file, idempotency_key=key))
        return Unanswered(**asdict(ended)) if isinstance(ended, Failure) else Answered(ended.value, ended.request_id)

    def _batch(
        self,
        items: Iterable[str],
        policy: Optional[str],
        mail: Optional[bool],
        concurrency: int,
        retries: int,
        timeout: Optional[float],
        on_progress: Optional[Callable[[Progress], None]],
        cancelled: Optional[threading.Event] = None,
    ) -> Iterator[List[ItemOutcome]]:
        """The outcomes of a batch, those of one request after the other. `cancelled` ends its waits."""
        if isinstance(items, (str, bytes)):
            raise TypeError("mailkind: `items` must be a list or another iterable of texts, not one text.")
        ahead = _read_count("concurrency", concurrency, 1)
        seconds = self._batch_timeout if timeout is None else _read_seconds("timeout", timeout)
        state = _Batch(policy, mail, _read_count("retries", retries, 0), seconds, cancelled or threading.Event())
        return self._run_batch(items, ahead, state, on_progress)

    def _run_batch(
        self, items: Iterable[str], ahead: int, state: _Batch, on_progress: Optional[Callable[[Progress], None]]
    ) -> Iterator[List[ItemOutcome]]:
        total = len(items) if isinstance(items, Sequence) else None
        begun: Deque[Future[List[ItemOutcome]]] = deque()
        done = checked = 0
        chunks = _chunks_of(items)
        try:
            while True:
                while len(begun) < ahead:
                    chunk = next(chunks, None)
                    if chunk is None:
                        break
                    begun.append(self._begin(chunk[0], chunk[1], state))
                if not begun:
                    return
                ended = begun.popleft().result()
                done += len(ended)
                checked += sum(each.outcome == "checked" for each in ended)
                if on_progress is not None:
                    on_progress(Progress(done, checked, done - checked, total))
                yield ended
        finally:
            state.cancelled.set()

    def _begin(self, items: List[Tuple[int, str]], is_sent: bool, state: _Batch) -> Future[List[ItemOutcome]]:
        """Sends a request in a thread that keeps no program running."""
        future: Future[List[ItemOutcome]] = Future()

        def run() -> None:
            try:
                future.set_result(self._chunk(items, is_sent, state))
            except BaseException as error:
                future.set_exception(error)

        try:
            threading.Thread(target=run, name="mailkind-batch", daemon=True).start()
        except RuntimeError:  # there is no room for a thread
            run()
        return future

    def _chunk(self, items: List[Tuple[int, str]], is_sent: bool, state: _Batch) -> List[ItemOutcome]:
        ended = self._chunk_outcomes(items, is_sent, state)
        # After the caller has left the loop, results that still arrive are dropped.
        for outcome in () if state.cancelled.is_set() else ended:
            self._tell(outcome)
        return ended

    def _chunk_outcomes(self, items: List[Tuple[int, str]], is_sent: bool, state: _Batch) -> List[ItemOutcome]:
        if not is_sent:
            return _unchecked(items, Failure("invalid_subject", _UNSENDABLE))
        if state.stopped is not None:
            return _unchecked(items, state.stopped)
        body = _body_of({"items": [item for _, item in items], "policy": state.policy, "mail": state.mail})
        if body is None:
            return _unchecked(items, Failure("refused", _UNSENDABLE))

        def is_answer(value: Any) -> bool:
            results = value.get("results") if isinstance(value, dict) else None
            return isinstance(results, list) and len(results) == len(items) and all(map(_is_verdict, results))

        call = _Call("/v1/check/batch", body, is_answer, state.retries, state.timeout, False, state.cancelled)
        ended = self._ask(call)
        if isinstance(ended, _Answer):
            with state.lock:
                state.given_up_in_a_row = 0
            pairs = zip(items, ended.value["results"])
            return [CheckedItem(result, ended.request_id, index, item) for (index, item), result in pairs]
        return self._after_failure(items, state, ended)

    def _after_failure(self, items: List[Tuple[int, str]], state: _Batch, failure: Failure) -> List[ItemOutcome]:
        """What units are left are used for the first items. What no later request can get either stops the batch."""
        problem = failure.problem or {}
        left = problem.get("remaining") if failure.because == "quota_exceeded" else 0
        if isinstance(left, int) and 0 < left < len(items):
            return [*self._chunk_outcomes(items[:left], True, state), *_unchecked(items[left:], failure)]
        with state.lock:
            state.given_up_in_a_row += 1
            is_final = failure.because in ("quota_exceeded", "refused") or state.given_up_in_a_row >= _GIVEN_UP_MAX
            # A problem with the items of this request says nothing about those of another.
            if is_final and problem.get("code") != "invalid_input":
                state.stopped = failure
        return _unchecked(items, failure)

    def _ask(self, call: _Call) -> Union[_Answer, Failure]:
        """Sends a request with its retries. A wait that would not end before the deadline is not begun."""
        platform = self._platform
        request_id = platform.new_id()
        ends_at = platform.now() + call.timeout
        tries = 0
        while True:
            tries += 1
            self._count("requests")
            left = ends_at - platform.now() if call.has_deadline else call.timeout
            ended = self._exchange(call, request_id, max(0.001, left))
            if isinstance(ended, _Answer) or tries > call.retries:
                return ended
            # All but a refusal by the server may mean that a list was accepted.
            is_once = call.file is not None and call.idempotency_key is None
            if is_once and (ended.problem is None or ended.status not in (429, 503)):
                return ended
            delay = _retry_delay(ended, tries, self._retry_wait_max, platform.random())
            if delay is None or (call.has_deadline and delay >= ends_at - platform.now()):
                return ended
            if platform.pause(call.cancelled, delay):
                return ended
            self._count("retries")

    def _exchange(self, call: _Call, request_id: str, timeout: float) -> Union[_Answer, Failure]:
        """Sends a request once. It always ends within `timeout`: its own thread waits for the answer."""
        ended: List[Union[_Answer, Failure]] = []
        done = threading.Event()

        def run() -> None:
            try:
                ended.append(self._send(call, request_id, timeout))
            except Exception:  # its text may hold the headers or the URL, so nothing of it is passed on
                ended.append(_failure("unreachable", request_id))
            finally:
                done.set()

        try:
            threading.Thread(target=run, name="mailkind-request", daemon=True).start()
        except RuntimeError:  # the program ends, or has no room for a thread
            return _failure("unreachable", request_id)
        if not self._platform.wait(done, timeout) or not ended:
            return _failure("timeout", request_id)
        return ended[0]

    def _send(self, call: _Call, request_id: str, timeout: float) -> Union[_Answer, Failure]:
        headers = {"Accept": "application/json", "User-Agent": "mailkind-python", "X-Request-Id": request_id}
        if call.body is not None or call.file is not None:
            headers["Content-Type"] = "application/json" if call.file is None else "text/plain"
        if call.idempotency_key is not None:
            headers["Idempotency-Key"] = call.idempotency_key
        data: Any = call.file if call.body is None else call.body.encode()
        opened = open(data, "rb") if isinstance(data, (str, os.PathLike)) else None
        request = urllib.request.Request(
            self._url + call.path, opened or data, {**headers, **self._secret.header}, method=call.method
        )
        try:
            response = self._opener.open(request, timeout=timeout)
        except urllib.error.URLError as error:
            return _failure("timeout" if isinstance(error.reason, socket.timeout) else "unreachable", request_id)
        except socket.timeout:
            return _failure("timeout", request_id)
        finally:
            if opened is not None:
                opened.close()
        with response:
            try:
                value = None if response.status == 204 else json.loads(_text_of(response, time.monotonic() + timeout))
            except socket.timeout:
                return _failure("timeout", request_id)
            except (OSError, ValueError, RecursionError, http.client.HTTPException):
                value = None
            return _read(call, response.status, response.headers, value, request_id)

    def _download(self, path: str, place: _Place, timeout: float) -> Iterator[bytes]:
        """Gives the bytes of results from a place on and moves it. `failure` of the place says how it ended."""
        request_id = self._platform.new_id()
        headers = {"Accept": "*/*", "User-Agent": "mailkind-python", "X-Request-Id": request_id, **self._secret.header}
        if place.at > 0:
            headers["Range"] = f"bytes={place.at}-"
            if place.entity_tag is not None:
                headers["If-Range"] = place.entity_tag
        place.failure = None
        self._count("requests")
        try:
            with self._opener.open(urllib.request.Request(self._url + path, None, headers), timeout=timeout) as response:
                if response.status == 416 and response.headers.get("Content-Range") == f"bytes */{place.at}":
                    return
                if response.status != (206 if place.at > 0 else 200):
                    place.failure = _refusal(response, timeout, request_id)
                    return
                place.entity_tag = response.headers.get("ETag")
                while True:
                    part = response.read1(65_536)
                    if not part:
                        break
                    place.at += len(part)
                    yield part
                if response.length:
                    place.failure = _failure("unreachable", request_id)
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            place.failure = _failure("timeout" if isinstance(reason, socket.timeout) else "unreachable", request_id)

    def _count(self, name: str) -> None:
        with self._lock:
            self._counts[name] += 1

    def _unchecked(self, failure: Failure) -> Outcome:
        """The outcome of a check that was never sent."""
        outcome = Unchecked(**asdict(failure))
        self._tell(outcome)
        return outcome

    def _tell(self, outcome: Union[Outcome, ItemOutcome]) -> None:
        if isinstance(outcome, (Checked, CheckedItem)):
            self._count("checked")
            return
        with self._lock:
            self._counts["unchecked"] += 1
            self._causes[outcome.because] += 1
        if self._on_unchecked is None:
            return
        try:
            # Only what a log may hold: the item of a batch is left out.
            self._on_unchecked(
                Unchecked(
                    outcome.because, outcome.message, outcome.problem, outcome.status, outcome.retry_after, outcome.request_id
                )
            )
        except Exception:  # what logs a failure must not become one of the sign-up
            return


class JobError(Exception):
    """Why the progress or the results of a job ended early. `received`: how many bytes of the results came."""

    def __init__(self, failure: Failure, received: int = 0) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.received = received


class Job:
    """A list at the server. `body`: as the server gave it when this object was made."""

    def __init__(self, client: Mailkind, body: Dict[str, Any]) -> None:
        self._client = client
        self.body = body
        self.id: str = body["id"]

    def progress(self) -> Iterator[Dict[str, Any]]:
        """How far it is, again and again until it is `done` or `failed`. Waits while it is `stopped`. Raises a `JobError`."""
        pause, failures = _LOOK_FIRST, 0
        while True:
            reply = self._client.jobs._get(self.id)
            if isinstance(reply, Answered):
                failures = 0
                yield reply.result
                if reply.result["state"] in ("done", "failed"):
                    return
                is_stopped = reply.result["state"] == "stopped"
                pause = _LOOK_STOPPED if is_stopped else min(pause * _LOOK_GROWTH, _LOOK_MAX)
            else:
                failures += 1
                pause = max(_LOOK_FIRST, self._delay(reply, failures))
            self._client._platform.pause(threading.Event(), pause)

    def results(
        self,
        *,
        only: Optional[Sequence[str]] = None,
        format: Optional[str] = None,
        start: int = 0,
        timeout: Optional[float] = None,
    ) -> Iterator[bytes]:
        """The bytes of the results from byte `start` on. A download that is cut off continues where it stopped.

        `format="excel"`: with a byte order mark, and without cells that a spreadsheet would run. `timeout`: how long
        nothing of them may arrive. Raises a `JobError` when that fails several times in a row.
        """
        path = f"/v1/jobs/{urllib.parse.quote(self.id, safe='')}/results" + _query(only=",".join(only) if only else None, format=format)
        seconds = self._client._batch_timeout if timeout is None else _read_seconds("timeout", timeout)
        place = _Place(start)
        failures = 0
        while True:
            before = place.at
            yield from self._client._download(path, place, seconds)
            if place.failure is None:
                return
            failures = 1 if place.at > before else failures + 1
            self._client._platform.pause(threading.Event(), self._delay(place.failure, failures, place.at))

    def save(
        self,
        path: Union[str, "os.PathLike[str]"],
        *,
        only: Optional[Sequence[str]] = None,
        format: Optional[str] = None,
        resume: bool = False,
    ) -> int:
        """Downloads the results into a file, and gives its size. `resume` continues one that was cut off."""
        size = os.path.getsize(path) if resume and os.path.exists(path) else 0
        with open(path, "ab" if size else "wb") as file:
            for part in self.results(only=only, format=format, start=size):
                file.write(part)
                size += len(part)
        return size

    def delete(self) -> Reply:
        """Deletes it with its list and results."""
        return self._client._reply(_job_path(self.id), method="DELETE", is_answer=lambda value: value is None)

    def _delay(self, failure: Failure, failures: int, received: int = 0) -> float:
        platform = self._client._platform
        wait = _retry_delay(failure, failures, self._client._retry_wait_max, platform.random())
        if wait is None or failures >= _GIVEN_UP_MAX:
            raise JobError(failure, received)
        return wait


@dataclass
class _Place:
    """How far a download is, of which version of the results, and why it ended early."""

    at: int
    entity_tag: Optional[str] = None
    failure: Optional[Failure] = None


#: An entry to add: a text such as `acme.com`, `*.acme.com` or `jane@acme.com`, or a mapping with `entry` and `note`.
OwnListItem = Union[str, Mapping[str, str]]


class OwnList:
    """The block list or the allow list of the account. One call changes up to 1,000 entries. Its results name those that cannot be read."""

    def __init__(self, client: Mailkind, path: str) -> None:
        self._client = client
        self._path = path

    def page(
        self,
        *,
        after: Optional[str] = None,
        limit: Optional[int] = None,
        timeout: Optional[float] = None,
        retries: Optional[int] = None,
    ) -> Reply:
        """Some entries, sorted. `after`: the `next` of the page before."""
        return self._client._reply(self._path + _query(after=after, limit=limit), None, timeout, retries)

    def find(self, entry: str, *, timeout: Optional[float] = None, retries: Optional[int] = None) -> Reply:
        """The entry with exactly this value; `result` is None if it is not on the list."""
        reply = self._client._reply(self._path + _query(entry=entry), None, timeout, retries)
        return replace(reply, result=next(iter(reply.result["entries"]), None)) if isinstance(reply, Answered) else reply

    def add(
        self,
        entries: Iterable[OwnListItem],
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        retries: Optional[int] = None,
    ) -> Reply:
        """Adds entries. With the same `idempotency_key` and entries the first answer is given again for a day."""
        given = {"entries": _list_of(entries)}
        return self._client._reply(self._path, given, timeout, retries, idempotency_key=idempotency_key)

    def remove(
        self, entries: Iterable[str], *, timeout: Optional[float] = None, retries: Optional[int] = None
    ) -> Reply:
        """Removes entries by their value."""
        return self._client._reply(self._path, {"entries": _list_of(entries)}, timeout, retries, method="DELETE")


def _list_of(entries: Any) -> List[Any]:
    if isinstance(entries, (str, bytes, Mapping)):
        raise TypeError("mailkind: `entries` must be a list or another iterable of entries, not one entry.")
    return list(entries)


_UPLOAD_OPTIONS = frozenset(
    "format column header delimiter skip encoding sheet force canonical duplicates columns "
    "policy workspace name callback dry".split()
)


class _Jobs:
    def __init__(self, client: Mailkind) -> None:
        self._client = client

    def create(
        self,
        file: File,
        *,
        timeout: Optional[float] = None,
        retries: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        **options: Any,
    ) -> Reply:
        """Uploads a list; `result` is its `Job`, with asyncio its `AsyncJob`. Options: format, column, header, delimiter, skip,
        encoding, sheet, force, canonical, duplicates, columns, policy, workspace, name, callback. What is absent of how it is read
        is found.

        An open file is sent once. Another list is sent again only when the server has refused it for now, or with an
        `idempotency_key`: then it makes one job, however often it is sent within a day.
        """
        return self._upload(
            file, options, timeout, retries, _is_job, lambda body: Job(self._client, body), idempotency_key
        )

    def estimate(
        self, file: File, *, timeout: Optional[float] = None, retries: Optional[int] = None, **options: Any
    ) -> Reply:
        """What a list would cost. Nothing of it is stored."""
        return self._upload(file, {**options, "dry": True}, timeout, retries, lambda value: isinstance(value, dict))

    def get(self, id: str) -> Reply:
        """The `Job` with this id."""
        reply = self._get(id)
        return Answered(Job(self._client, reply.result), reply.request_id) if isinstance(reply, Answered) else reply

    def list(self) -> Reply:
        """Your jobs as the API gives them, the newest first."""
        reply = self._client._reply("/v1/jobs", is_answer=lambda value: isinstance(value, dict) and "jobs" in value)
        return Answered(reply.result["jobs"], reply.request_id) if isinstance(reply, Answered) else reply

    def _get(self, id: str) -> Reply:
        return self._client._reply(_job_path(id), is_answer=_is_job)

    def _upload(
        self,
        file: File,
        options: Mapping[str, Any],
        timeout: Optional[float],
        retries: Optional[int],
        is_answer: Callable[[Any], bool],
        use: Callable[[Any], Any] = lambda body: body,
        idempotency_key: Optional[str] = None,
    ) -> Reply:
        unknown = set(options) - _UPLOAD_OPTIONS
        if unknown:
            raise TypeError("mailkind: there is no option " + ", ".join(sorted(unknown)))
        can_repeat = isinstance(file, (str, bytes, os.PathLike))
        if isinstance(file, (str, os.PathLike)):
            open(file, "rb").close()  # what is wrong with it is the caller's, not the server's
        seconds = _UPLOAD_TIMEOUT if timeout is None else timeout
        reply = self._client._reply(
            "/v1/jobs" + _query(**options), None, seconds, retries if can_repeat else 0, file=file,
            idempotency_key=idempotency_key, is_answer=is_answer,
        )
        return Answered(use(reply.result), reply.request_id) if isinstance(reply, Answered) else reply


def _unanswered(client: Mailkind, failure: Failure) -> Reply:
    return Unanswered(**asdict(failure))


def _awaited(
    method: Callable[Concatenate[Any, P], R], failed: Callable[[Mailkind, Failure], R]
) -> Callable[Concatenate[Any, P], Awaitable[R]]:
    """A method for asyncio: it runs in a thread, with the wait for a free slot as a part of its time. `failed`: how it ends
    without a slot or a thread."""

    @functools.wraps(method)
    async def call(self: Any, *args: Any, timeout: Optional[float] = None, **given: Any) -> R:
        client: AsyncMailkind = self._client
        seconds = client._sync._timeout if timeout is None else _read_seconds("timeout", timeout)
        loop = asyncio.get_running_loop()
        slots = client._slots_of(loop)
        ends_at = loop.time() + seconds
        try:
            await asyncio.wait_for(slots.acquire(), seconds)
        except asyncio.TimeoutError:
            return failed(client._sync, _failure("timeout", ""))
        given["timeout"] = max(0.001, ends_at - loop.time())
        try:
            return await _in_thread(lambda: method(self._sync, *args, **given), slots.release)
        except _NoThread:
            return failed(client._sync, _failure("unreachable", ""))

    return call


def _threaded(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], Awaitable[R]]:
    """A method for asyncio that takes long: in a thread of its own. A `Job` in its reply becomes an `AsyncJob`."""

    @functools.wraps(method)
    async def call(self: Any, *args: Any, **given: Any) -> Any:
        reply = await _in_thread(lambda: method(self._sync, *args, **given))
        is_job = isinstance(reply, Answered) and isinstance(reply.result, Job)
        return replace(reply, result=AsyncJob(reply.result)) if is_job else reply

    return call


def _iterating(method: Callable[Concatenate[Any, P], Iterator[R]]) -> Callable[Concatenate[Any, P], AsyncIterator[R]]:
    """A method for asyncio that gives one value after the other."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **given: Any) -> AsyncIterator[R]:
        return _iterated(method(self._sync, *args, **given))

    return call


class AsyncMailkind:
    """The client for asyncio: the methods and options of `Mailkind`, with `await` and `async for`. It never blocks the loop.

    `concurrency_max`: how many calls run at once (64), each in its own thread. Others wait within their
    `timeout`. A call that is cancelled is left alone and ends by itself. `on_unchecked` and `on_progress` are called in other threads
    than that of the loop.
    """

    def __init__(
        self,
        key: Optional[str] = None,
        *,
        url: str = SERVER_URL,
        timeout: Optional[float] = None,
        retries: int = 0,
        retry_wait_max: float = 60.0,
        cache_entries_max: int = 1000,
        on_unchecked: Optional[Callable[[Unchecked], None]] = None,
        concurrency_max: int = 64,
        _platform: Optional[_Platform] = None,
    ) -> None:
        self._client = self
        self._sync = Mailkind(
            key, url=url, timeout=timeout, retries=retries, retry_wait_max=retry_wait_max, cache_entries_max=cache_entries_max,
            on_unchecked=on_unchecked, _platform=_platform,
        )
        self._concurrency_max = _read_count("concurrency_max", concurrency_max, 1)
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._slots: Optional[asyncio.Semaphore] = None

    def __repr__(self) -> str:
        return f"Async{self._sync!r}"

    check = _awaited(Mailkind.check, Mailkind._unchecked)
    check_email = _awaited(Mailkind.check_email, Mailkind._unchecked)
    feedback = _awaited(Mailkind.feedback, _unanswered)
    rules = _awaited(Mailkind.rules, _unanswered)
    set_rules = _awaited(Mailkind.set_rules, _unanswered)
    usage = _awaited(Mailkind.usage, _unanswered)
    health = _awaited(Mailkind.health, _unanswered)

    def batch(
        self,
        items: Iterable[str],
        *,
        policy: Optional[str] = None,
        mail: Optional[bool] = None,
        concurrency: int = 4,
        retries: int = 4,
        timeout: Optional[float] = None,
        on_progress: Optional[Callable[[Progress], None]] = None,
    ) -> AsyncIterator[ItemOutcome]:
        """As `Mailkind.batch`: iterate over it with `async for`. `items` is read in another thread."""
        cancelled = threading.Event()
        chunks = self._sync._batch(items, policy, mail, concurrency, retries, timeout, on_progress, cancelled)
        return self._items(chunks, cancelled)

    @property
    def jobs(self) -> "_AsyncJobs":
        """Whole lists: upload, watch, download."""
        return _AsyncJobs(self._sync.jobs)

    @property
    def block_list(self) -> "AsyncOwnList":
        """The entries that are always blocked."""
        return AsyncOwnList(self, self._sync.block_list)

    @property
    def allow_list(self) -> "AsyncOwnList":
        """The entries that are always allowed."""
        return AsyncOwnList(self, self._sync.allow_list)

    def stats(self) -> Dict[str, Any]:
        """As `Mailkind.stats`."""
        return self._sync.stats()

    def _slots_of(self, loop: asyncio.AbstractEventLoop) -> asyncio.Semaphore:
        """The slots of this loop: a semaphore serves one loop, and a program may run several, one after the other."""
        if self._slots is None or self._loop is not loop:
            self._loop, self._slots = loop, asyncio.Semaphore(self._concurrency_max)
        return self._slots

    async def _items(self, chunks: Iterator[List[ItemOutcome]], cancelled: threading.Event) -> AsyncIterator[ItemOutcome]:
        try:
            async for ended in _iterated(chunks):
                for each in ended:
                    yield each
        finally:
            cancelled.set()


class AsyncJob:
    """A list at the server, for asyncio. `body`: as the server gave it when this object was made."""

    def __init__(self, job: Job) -> None:
        self._sync = job
        self.body = job.body
        self.id: str = job.id

    progress = _iterating(Job.progress)
    results = _iterating(Job.results)
    save = _threaded(Job.save)
    delete = _threaded(Job.delete)


class AsyncOwnList:
    """The block list or the allow list of the account, for asyncio, as `OwnList`."""

    def __init__(self, client: AsyncMailkind, own: OwnList) -> None:
        self._client = client
        self._sync = own

    page = _awaited(OwnList.page, _unanswered)
    find = _awaited(OwnList.find, _unanswered)
    add = _awaited(OwnList.add, _unanswered)
    remove = _awaited(OwnList.remove, _unanswered)


class _AsyncJobs:
    """Each method in a thread of its own: uploads take long, and the program says how many it begins."""

    def __init__(self, jobs: _Jobs) -> None:
        self._sync = jobs

    create = _threaded(_Jobs.create)
    estimate = _threaded(_Jobs.estimate)
    get = _threaded(_Jobs.get)
    list = _threaded(_Jobs.list)


class _NoThread(Exception):
    """The program ends, or has no room for a thread."""


async def _in_thread(call: Callable[[], R], on_end: Callable[[], object] = lambda: None) -> R:
    """Calls in a thread that keeps no program running. `on_end` is called in the loop, also when nobody waits any more."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[R] = loop.create_future()

    def settle(set_it: Callable[[], None]) -> None:
        on_end()
        if not future.done():
            set_it()

    def run() -> None:
        try:
            value = call()
            ended: Callable[[], None] = lambda: future.set_result(value)
        except BaseException as error:
            fault = error  # the name of an `except` ends with it
            ended = lambda: future.set_exception(fault)
        try:
            loop.call_soon_threadsafe(settle, ended)
        except RuntimeError:  # the loop is closed
            pass

    try:
        threading.Thread(target=run, name="mailkind-call", daemon=True).start()
    except RuntimeError:
        on_end()
        raise _NoThread("mailkind: there is no room for a thread") from None
    return await future


async def _iterated(values: Iterator[R]) -> AsyncIterator[R]:
    """The values of an iterator, each of which is waited for in another thread."""
    end = object()
    while True:
        value = await _in_thread(lambda: next(values, end))
        if value is end:
            return
        yield cast(R, value)


def _flattened(chunks: Iterator[List[R]]) -> Iterator[R]:
    for chunk in chunks:
        yield from chunk


def _job_path(id: str) -> str:
    return "/v1/jobs/" + urllib.parse.quote(id, safe="")


def _is_job(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("id"), str) and isinstance(value.get("state"), str)


def _query(**options: Any) -> str:
    known = {name: value for name, value in options.items() if value is not None}
    texts = {name: str(value).lower() if isinstance(value, bool) else value for name, value in known.items()}
    return "?" + urllib.parse.urlencode(texts, quote_via=urllib.parse.quote) if texts else ""


def _chunks_of(items: Iterable[str]) -> Iterator[Tuple[List[Tuple[int, str]], bool]]:
    """Splits items into requests of as many items and bytes as the API takes. An item that it never takes stands alone, unsent."""
    chunk: List[Tuple[int, str]] = []
    size = _FRAME_BYTES
    for index, item in enumerate(items):
        is_sent = isinstance(item, str) and len(item.strip()) <= BATCH_ITEM_LENGTH_MAX
        more = len(json.dumps(item)) + 2 if is_sent else 0
        if chunk and (not is_sent or len(chunk) == BATCH_ITEMS_MAX or size + more > BATCH_BODY_BYTES_MAX):
            yield chunk, True
            chunk, size = [], _FRAME_BYTES
        if is_sent:
            chunk.append((index, item))
            size += more
        else:
            yield [(index, item)], False
    if chunk:
        yield chunk, True


def _unchecked(items: Sequence[Tuple[int, str]], failure: Failure) -> List[ItemOutcome]:
    known = (failure.because, failure.message, failure.problem, failure.status, failure.retry_after, failure.request_id)
    return [UncheckedItem(*known, index=index, item=item) for index, item in items]


def _body_of(given: Mapping[str, Any]) -> Optional[str]:
    """The members that are given, as JSON; None: they are no JSON."""
    try:
        return json.dumps({name: value for name, value in given.items() if value is not None}, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None


def _read_subject(given: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
    """The subject without white space around it. None: it is missing, empty, no text, or longer than any that the API takes.
    Several subjects are a mistake of the program, which the server explains."""
    sent = {name: given[name] for name in ("email", "domain", "url") if given[name] is not None}
    if len(sent) > 1:
        return sent
    texts = {name: value.strip() for name, value in sent.items() if isinstance(value, str)}
    return texts if any(0 < len(text) <= BATCH_ITEM_LENGTH_MAX for text in texts.values()) else None


def _is_about_subject(failure: Failure, subject: Mapping[str, Any], policy: Any) -> bool:
    """Whether the server refused a check because of its subject. A body is too large because of the longest text in it."""
    if len(subject) > 1:
        return False
    ((kind, value),) = subject.items()
    if failure.status == 413:
        return len(value) >= len(str(policy or ""))
    problem = failure.problem or {}
    faults = problem.get("errors") if problem.get("code") == "invalid_input" else None
    return isinstance(faults, list) and any(isinstance(each, dict) and each.get("pointer") == f"/{kind}" for each in faults)


def _is_verdict(value: Any) -> bool:
    """Whether it is a verdict: what every program reads is there."""
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(name), str) for name in ("category", "recommendation"))
        and isinstance(value.get("is_business"), bool)
        and isinstance(value.get("confidence"), (int, float))
        and isinstance(value.get("reasons"), list)
    )


def _read(call: _Call, status: int, headers: Mapping[str, str], value: Any, request_id: str) -> Union[_Answer, Failure]:
    if status in (200, 202, 204):
        if not call.is_answer(value):
            return _failure("malformed", request_id, status=status)
        return _Answer(value, _max_age(headers.get("Cache-Control")), request_id)
    return _refused(status, headers, value, request_id)


def _refused(status: int, headers: Mapping[str, str], value: Any, request_id: str) -> Failure:
    is_problem = isinstance(value, dict) and all(isinstance(value.get(name), str) for name in ("code", "detail"))
    problem = value if is_problem else None
    failure = _failure(_cause_of(status, problem), request_id, problem, status)
    if status == 413 and problem is None:
        failure = replace(failure, message=_body_limit_message(headers.get("Server") or ""))
    return replace(failure, retry_after=_read_retry_after(headers.get("Retry-After"), headers.get("Date")))


def _refusal(response: Any, timeout: float, request_id: str) -> Failure:
    """What a response without results says. Results that have changed since are `refused`: what came belongs to others."""
    if response.status < 400:
        return _failure("refused", request_id, status=response.status)
    try:
        value = json.loads(_text_of(response, time.monotonic() + timeout))
    except (OSError, ValueError, RecursionError, http.client.HTTPException):
        value = None
    return _refused(response.status, response.headers, value, request_id)


def _cause_of(status: int, problem: Optional[Mapping[str, Any]]) -> str:
    if problem is not None and problem["code"] == "quota_exceeded":
        return "quota_exceeded"
    if status == 429:
        return "rate_limited"
    if status >= 500:
        return "server_error"
    # A redirection, or a refusal by something that is not the API.
    return "malformed" if problem is None and status not in (401, 403, 413) else "refused"


# Programs that by default accept no larger bodies, by the `Server` header of their answers.
_BODY_LIMITS = {
    "nginx": " nginx takes 1 MiB, unless its `client_max_body_size` says otherwise.",
    "cloudflare": " Cloudflare takes 100 MB in most plans.",
}


def _body_limit_message(server: str) -> str:
    """What people read when a proxy in front of the API refused a body for its size: the API sends a problem."""
    known = [says for name, says in _BODY_LIMITS.items() if server.lower().startswith(name)]
    return "A proxy in front of the server refused the body as too large (413)." + "".join(known)


def _failure(
    because: str, request_id: str, problem: Optional[Mapping[str, Any]] = None, status: Optional[int] = None
) -> Failure:
    message = CAUSES[because] if status is None else f"{CAUSES[because]} The status is {status}."
    if problem is not None:
        message = f"{problem['code']}: {problem['detail']}"
    return Failure(because, message, problem, status, None, request_id)


def _text_of(response: Any, ends_at: float) -> str:
    """The text of an answer. Raises if it is too long or is cut off."""
    parts: List[bytes] = []
    size = 0
    while True:
        part = response.read1(65_536)
        if not part:
            break
        size += len(part)
        if size > _ANSWER_BYTES_MAX or time.monotonic() > ends_at:
            raise ValueError("the answer is too long")
        parts.append(part)
    if response.length:
        raise ValueError("the answer is cut off")
    return b"".join(parts).decode("utf-8")


def _max_age(cache_control: Optional[str]) -> float:
    """How many seconds a cache of this program may keep an answer (RFC 9111). 0: not at all."""
    said = (cache_control or "").lower()
    if re.search(r"\bno-(?:store|cache)\b", said):
        return 0.0
    found = re.search(r'(?:^|[\s,])max-age="?([0-9]{1,9})', said)
    return float(found.group(1)) if found else 0.0


def _read_retry_after(value: Optional[str], date: Optional[str]) -> Optional[float]:
    """`Retry-After` in seconds: a number or a date (RFC 9110, 10.2.3), by the server's own clock."""
    if value is None:
        return None
    if re.fullmatch(r"\s*[0-9]+\s*", value):
        return float(value)
    try:
        until, now = (email.utils.parsedate_to_datetime(text) for text in (value, date or ""))
        return max(0.0, (until - now).total_seconds())
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def _retry_delay(failure: Failure, tries: int, wait_max: float, chance: float) -> Optional[float]:
    """After how many seconds to try again; None: not at all. A quota says so by its `Retry-After` alone."""
    # The first request with the same idempotency key may still be running.
    is_running = (failure.problem or {}).get("code") == "idempotency_in_progress"
    if (failure.because == "refused" and not is_running) or (failure.because == "quota_exceeded" and failure.retry_after is None):
        return None
    backoff: float = min(_BACKOFF_FIRST * 2.0 ** min(tries - 1, 16), _BACKOFF_MAX)
    wait = backoff if failure.retry_after is None else failure.retry_after
    if wait > wait_max:
        return None
    return wait + chance * min(_JITTER_MAX, max(wait, _BACKOFF_FIRST))


def _read_key(key: Any) -> str:
    """An empty key, such as that of an unset variable, counts as no key: the server refuses the request, and people can still sign up."""
    if key is None:
        return ""
    text = key.strip() if isinstance(key, str) else None
    if text is None or not re.fullmatch(r"[\x21-\x7e]*", text):
        raise ValueError("mailkind: the key has characters that no key has. Copy it again from the dashboard.")
    return text


def _read_idempotency_key(key: Any) -> Optional[str]:
    if key is None or (isinstance(key, str) and re.fullmatch(r"[\x21-\x7e]{1,255}", key)):
        return cast(Optional[str], key)
    raise ValueError("mailkind: `idempotency_key` must have 1 to 255 characters of ASCII, without spaces.")


def _read_url(url: Any) -> str:
    try:
        parts = urllib.parse.urlsplit(url)
        is_address = isinstance(url, str) and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        if is_address and "@" not in parts.netloc and re.fullmatch(r"[\x21-\x7e]+", url):
            return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    except (AttributeError, TypeError, ValueError):
        pass
    raise ValueError("mailkind: `url` must be the address of the server, such as https://mailkind.example.com.")


def _read_count(name: str, value: Any, least: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise ValueError(f"mailkind: `{name}` must be a whole number of at least {least}.")


def _read_seconds(name: str, value: Any, may_be_zero: bool = False) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if is_number and (0 < value < float("inf") or (may_be_zero and value == 0)):
        return min(float(value), 86_400.0)
    raise ValueError(f"mailkind: `{name}` must be a number of seconds{'' if may_be_zero else ' above 0'}.")
