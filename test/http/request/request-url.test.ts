import { expect, test } from "bun:test"
import { inputFromQuery } from "../../../src/http/request/check-input.ts"
import { parseUploadQuery } from "../../../src/http/request/job-input.ts"
import { Problem } from "../../../src/http/response/problem.ts"

test("a query has at most 256 parameters, which are counted before they are decoded", () => {
  const urlOf = (count: number) => `http://localhost/?${"%ff&".repeat(count - 1)}email=a@b.com`
  const detailsOf = (count: number) => inputFromQuery(urlOf(count)).faults.map(({ detail }) => detail)
  expect(detailsOf(256)).toEqual(["The query is not UTF-8."])
  expect(detailsOf(257)).toEqual(["The query has more than 256 parameters."])
  const list = { fields: [], format: null, delimiter: null, isJson: false }
  const upload = (count: number) => () => parseUploadQuery(`http://localhost/?${"a&".repeat(count - 1)}a`, list)
  expect(upload(256)).not.toThrow()
  expect(upload(257)).toThrow(Problem)
})
