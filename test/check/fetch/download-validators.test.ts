import { expect, test } from "bun:test"
import { conditionalHeaders, readValidators } from "../../../src/check/fetch/download.ts"

const DATE = "Fri, 20 Nov 2026 00:00:00 GMT"

test("the validators of a response are sent with the next request", () => {
  const known = readValidators(new Headers({ etag: 'W/"v1"', "last-modified": DATE }))
  expect(known).toEqual({ etag: 'W/"v1"', lastModified: DATE })
  expect(conditionalHeaders(known)).toEqual({ "if-none-match": 'W/"v1"', "if-modified-since": DATE })
})

test("without validators there are no conditions, and each validator is a condition of its own", () => {
  expect(conditionalHeaders(null)).toEqual({})
  expect(readValidators(new Headers())).toEqual({ etag: null, lastModified: null })
  expect(conditionalHeaders({ etag: '""', lastModified: null })).toEqual({ "if-none-match": '""' })
  expect(conditionalHeaders({ etag: null, lastModified: DATE })).toEqual({ "if-modified-since": DATE })
})

test.each(["", "v1", "*", '"v1', 'w/"v1"', '"a", "b"', '"a b"', '"a"b"', '"\x7f"', '"ä"'])(
  "the entity tag %j is malformed and is neither stored nor sent",
  etag => {
    expect(readValidators(new Headers({ etag })).etag).toBeNull()
    expect(conditionalHeaders({ etag, lastModified: null })).toEqual({})
  },
)

test.each(["", "0", "2026-11-20T00:00:00Z", "Fri, 20 Nov 2026 00:00:00 UTC", "Friday, 20-Nov-26 00:00:00 GMT"])(
  "the date %j is malformed and is neither stored nor sent",
  lastModified => {
    expect(readValidators(new Headers({ "last-modified": lastModified })).lastModified).toBeNull()
    expect(conditionalHeaders({ etag: null, lastModified })).toEqual({})
  },
)

test("a value that would start another header is never sent", () => {
  const broken = { etag: '"v1"\r\nX: 1', lastModified: `${DATE}\r\nX: 1` }
  expect(conditionalHeaders(broken)).toEqual({})
  expect(conditionalHeaders({ etag: '"v1"\n', lastModified: `${DATE}\n` })).toEqual({})
})
