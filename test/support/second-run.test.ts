import { describe, expect, test } from "bun:test"
import { countsIn, failedFiles, filesToRunAgain, TESTS_AGAIN_MAX } from "./second-run.ts"

const PRINTED =
  "(fail) x > 3 fail [0.19ms]\n\n 12 pass\n 1 skip\n 2 fail\n 30 expect() calls\nRan 15 tests across 3 files. [13.00ms]\n"
const failure = (name: string, file: string): string =>
  `<testcase name="${name}" classname="x" time="0.1" file="${file}" line="2" assertions="1">\n<failure type="AssertionError" message="m">m</failure>\n</testcase>\n<testcase name="ok" classname="" time="0" file="${file}" line="3" assertions="0" />`
const REPORT = [failure("slow &gt; one", "a.test.ts"), failure("two", "b.test.ts"), failure("three", "b.test.ts")].join(
  "",
)

test("the counts of a run are those of its last lines, without their colours", () => {
  expect(countsIn(PRINTED)).toEqual({ passed: 12, failed: 2, errors: 0, erredFiles: [] })
  expect(countsIn(" 1 pass\n\u001b[0m\u001b[31m 4 fail\u001b[0m\n 1 error\n")).toEqual({
    passed: 1,
    failed: 4,
    errors: 1,
    erredFiles: [],
  })
  expect(countsIn("")).toEqual({ passed: 0, failed: 0, errors: 0, erredFiles: [] })
})

test("an error outside of tests is one of the file above it", () => {
  const error = "# Unhandled error between tests\n-------\nerror: late\n-------\n"
  expect(countsIn(`a.test.ts:\n(fail) slow\n\nb.test.ts:\n\n${error}\n 1 fail\n 1 error\n`)).toMatchObject({
    errors: 1,
    erredFiles: ["b.test.ts"],
  })
})

test("failed tests are found by file in a report", () => {
  expect(failedFiles(REPORT)).toEqual([
    { file: "a.test.ts", tests: ["slow > one"] },
    { file: "b.test.ts", tests: ["two", "three"] },
  ])
  expect(failedFiles(failure("a", "a.test.ts").replace(/<failure.*\n/, ""))).toEqual([])
})

const FEW = { passed: 9, failed: 3, errors: 0, erredFiles: [] }

describe("no file runs again", () => {
  test.each([
    ["when a file could not be loaded", { ...FEW, errors: 1, erredFiles: ["c.test.ts"] }, REPORT],
    ["when the file of an error is unknown", { ...FEW, errors: 1 }, REPORT],
    ["when nothing failed", { ...FEW, failed: 0 }, ""],
    ["when the report lacks a failure", { ...FEW, failed: 4 }, REPORT],
    [
      "when many failed",
      { ...FEW, failed: TESTS_AGAIN_MAX + 1 },
      Array.from({ length: TESTS_AGAIN_MAX + 1 }, (_, at) => failure(`test ${at}`, "a.test.ts")).join(""),
    ],
  ])("%s", (_, counts, report) => {
    expect(filesToRunAgain(counts, report)).toBeNull()
  })
})

test("the files of few failed tests run again, also when one of them left an error behind", () => {
  for (const counts of [FEW, { ...FEW, errors: 1, erredFiles: ["b.test.ts"] }])
    expect(filesToRunAgain(counts, REPORT)?.map(({ file }) => file)).toEqual(["a.test.ts", "b.test.ts"])
})
