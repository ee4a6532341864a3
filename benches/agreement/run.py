"""Random models of all kinds, each judged by other methods, the simulator and laws; see README.md.

    python benches/agreement/run.py [--models 10000] [--seed 1] [--jobs 2] [--out FOLDER]
    python benches/agreement/run.py --seed 1 --only 225        one model: its file, and what is found

Writes FOLDER (DATE-SEED beside this file) with machine.json, rows.parquet (a row a model), summary.md, and failing/INDEX.toml
for each model with a finding. A run that was cut off goes on where its rows.csv ends when it is started again with the same --out.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: one core a job

from record import describe  # noqa: E402

from agreement import report  # noqa: E402
from agreement.models import draw  # noqa: E402
from agreement.referee import Verdict, judge  # noqa: E402

LIMIT_S = 20.0  # whom the referee asks, and who takes longer, is ended, and that is a finding
SLOW_S = 2.0
FIELDS = (
    "seed", "index", "stratum", "method", "status", "seconds", "judged_s", "referees", "numbers", "worst", "of",
    "against", "allowed", "ours", "theirs", "rough", "rough_of", "findings",
)  # fmt: skip
Row = dict[str, Any]


def judged(seed: int, index: int, simulate: bool = True, asking: Callable[[str], None] | None = None) -> Row:
    """One model as a row; `asking` is told who is asked."""
    start = time.perf_counter()
    drawn = draw(seed, index)
    try:
        v = judge(drawn, simulate, asking)
    except Exception as error:  # a referee that fails judges nothing: one bad model must not end the bench
        v = Verdict(findings=[f"referee: {type(error).__name__}: {error}"[:300]])
    if v.seconds > SLOW_S:
        v.find("slow", f"auto took {v.seconds:.1f} s")
    row: Row = {"seed": seed, "index": index, "stratum": drawn.stratum, "method": v.method, "status": v.status}
    row |= {"seconds": round(v.seconds, 4), "judged_s": round(time.perf_counter() - start, 3)}
    row |= {"referees": " ".join(v.referees), "numbers": v.compared, "findings": "\n".join(dict.fromkeys(v.findings))}
    if (far := v.apart) is not None:
        row |= {"worst": far.difference, "of": str(far.key), "against": v.against, "allowed": far.allowed}
        row |= {"ours": far.ours, "theirs": far.theirs}
    if v.rough is not None:
        row |= {"rough": v.rough.difference, "rough_of": str(v.rough.key)}
    return row


def work(pipe: Connection, seed: int, simulate: bool) -> None:
    """A process that judges what it is told; what anything writes to stderr meanwhile is a finding."""
    heard = os.memfd_create("stderr")
    os.dup2(heard, 2)
    while (index := pipe.recv()) is not None:
        os.ftruncate(heard, 0)
        row = judged(seed, index, simulate, pipe.send)
        if size := os.fstat(heard).st_size:
            words = os.pread(heard, min(size, 300), 0).decode(errors="replace").replace("\n", " | ")
            row["findings"] = "\n".join(filter(None, (row["findings"], f"stderr: {words}")))
            os.lseek(heard, 0, os.SEEK_SET)
        pipe.send(row)


@dataclass
class Job:
    """One process and what it is at."""

    process: BaseProcess
    pipe: Connection
    index: int | None = None
    asked: str = ""
    since: float = 0.0

    @staticmethod
    def start(seed: int, simulate: bool) -> Job:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs, seed, simulate), daemon=True)
        process.start()
        theirs.close()
        return Job(process, ours)

    def give(self, index: int | None) -> None:
        self.pipe.send(index)
        self.index, self.since = index, time.monotonic()

    def late(self) -> bool:
        return self.index is not None and time.monotonic() - self.since > LIMIT_S


def all_judged(seed: int, indices: list[int], jobs: int, simulate: bool) -> Iterator[Row]:
    """Rows as they come. A process that is late or has died is replaced, and its model gets a row that says so."""
    left = iter(indices)
    busy: list[Job] = []
    for index, _ in zip(left, range(jobs), strict=False):
        busy.append(Job.start(seed, simulate))
        busy[-1].give(index)
    while busy:
        ready = wait([job.pipe for job in busy], timeout=0.2)
        for job in [*busy]:
            row = _received(job, seed) if job.pipe in ready else _ended(job, seed) if job.late() else None
            if row is None:
                continue
            yield row
            more = next(left, None)
            if not job.process.is_alive() and more is not None:
                busy[busy.index(job)] = job = Job.start(seed, simulate)
            if more is not None or job.process.is_alive():
                job.give(more)
            if more is None:
                busy.remove(job)


def _received(job: Job, seed: int) -> Row | None:
    """The row; None where the process says only whom it asks."""
    try:
        told: Row | str = job.pipe.recv()
        if not isinstance(told, str):
            return told
        job.asked, job.since = told, time.monotonic()
        return None
    except EOFError:
        job.process.join()
        return _lost(job, seed, f"died: the process ended with code {job.process.exitcode} in {job.asked}")


def _ended(job: Job, seed: int) -> Row:
    job.process.kill()
    job.process.join()
    return _lost(job, seed, f"slow: {job.asked} was ended after {LIMIT_S:g} s")


def _lost(job: Job, seed: int, words: str) -> Row:
    assert job.index is not None
    return {"seed": seed, "index": job.index, "stratum": draw(seed, job.index).stratum, "method": "", "status": "ended",
            "seconds": LIMIT_S, "judged_s": LIMIT_S, "referees": "", "numbers": 0, "findings": words}  # fmt: skip


def keep(folder: Path, row: Row, file: Any) -> None:
    """One row more, and the model's file where there is a finding."""
    csv.DictWriter(file, FIELDS).writerow(row)
    file.flush()
    if row["findings"]:
        (folder / "failing").mkdir(exist_ok=True)
        (folder / "failing" / f"{row['index']}.toml").write_text(text_of(row["seed"], row["index"], row["findings"]))


def text_of(seed: int, index: int, findings: str = "") -> str:
    """The model's file with its findings as comments; what is no model, as it was asked for."""
    head = "".join(f"# {line}\n" for line in findings.splitlines())
    drawn = draw(seed, index)
    try:
        return f"{head}{drawn.model().to_toml()}"
    except ValueError as error:
        asked = "".join(f"# {name} = {value!r}\n" for name, value in drawn.parts.items())
        return f"{head}# no model: {error}\n{asked}"


def bench(folder: Path, seed: int, models: int, jobs: int, simulate: bool) -> str:
    """All models that are not in `folder` yet; the summary of all of them."""
    journal = folder / "rows.csv"
    done = report.read(journal) if journal.exists() else []
    left = sorted(set(range(models)) - {int(row["index"]) for row in done})
    begun, failing = time.monotonic(), sum(bool(row["findings"]) for row in done)
    with open(journal, "a", newline="") as file:
        if not done:
            csv.DictWriter(file, FIELDS).writeheader()
        for count, row in enumerate(all_judged(seed, left, jobs, simulate), 1):
            keep(folder, row, file)
            failing += bool(row["findings"])
            passed = time.monotonic() - begun
            if not sys.stdout.isatty():
                continue
            line = f"\r{len(done) + count} of {models} models, {failing} with a finding, {passed:.0f} s"
            print(f"{line}, about {passed / count * (len(left) - count):.0f} s left   ", end="", flush=True)
    print()
    text = report.summary(report.read(journal), seed)
    report.store(journal, folder)
    (folder / "summary.md").write_text(text)
    journal.unlink()  # the Parquet file has it
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", type=int, metavar="INDEX")
    parser.add_argument("--no-simulation", action="store_true")
    asked = parser.parse_args()
    if asked.only is not None:
        row = judged(asked.seed, asked.only, not asked.no_simulation)
        print(text_of(asked.seed, asked.only))
        print("\n".join(f"{name}: {value}" for name, value in row.items()))
        return
    folder = asked.out or HERE / f"{time.strftime('%Y-%m-%d')}-{asked.seed}"
    describe(folder, {})
    print(bench(folder, asked.seed, asked.models, asked.jobs, not asked.no_simulation))


if __name__ == "__main__":
    main()
