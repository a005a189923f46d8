import { expect, test } from "bun:test"
import {
  readCsvColumn,
  readCurated,
  readDomainTree,
  readJsModuleJson,
  readJson,
  readJsStringLines,
  readJsWordArrays,
  readLines,
  readNames,
} from "../../../../src/check/lists/sources/source-formats.ts"

const HEADER = "# set: personal\n# says: A list.\n# origin: by hand\n# licence: MIT\n# date: 2026-11-20\n"

test("names: each line is read as people and programs write names, and the first that is none is told", () => {
  const text =
    "\uFEFF# own\r\n*.a.com\r\n.b.com\n@c.com\n0.0.0.0 d.com e.com\n||f.com^$popup\n! x\ng.com,\nh.com # why\n\nI.COM"
  const entries = ["a.com", "b.com", "c.com", "d.com", "e.com", "f.com", "g.com", "h.com", "I.COM"]
  expect(readNames(text)).toEqual({ kind: "entries", entries, malformedCount: 0 })
  expect(readNames("a.com\n\n@@||b.com^\nno name\nc.com")).toEqual({
    ...{ kind: "entries", entries: ["a.com", "c.com"] },
    ...{ malformedCount: 2, firstMalformedLine: 3 },
  })
})

test("lines: comments, empty lines and line ends of any kind are not entries", () => {
  expect(readLines("# head\r\n\r\na.com # note\n  b.com\r\n#c.com\n")).toEqual({
    kind: "entries",
    entries: ["a.com", "b.com"],
    malformedCount: 0,
  })
})

test("curated: the header and the sorted entries are read", () => {
  const read = readCurated(`${HEADER}a.com # note\nb.com\n`)
  expect(read).toMatchObject({
    kind: "entries",
    entries: ["a.com", "b.com"],
    header: { set: "personal", date: "2026-11-20" },
  })
})

test("curated: a missing header line, an invalid date, unsorted and repeated entries are refused", () => {
  expect(readCurated("a.com\n")).toMatchObject({
    kind: "refused",
    message: "the header has no set, says, origin, licence, date",
  })
  expect(readCurated(HEADER.replace("2026-11-20", "lately"))).toMatchObject({ kind: "refused" })
  expect(readCurated(`${HEADER}b.com\na.com\n`)).toEqual({
    kind: "refused",
    message: '"a.com" does not sort after "b.com"',
  })
  expect(readCurated(`${HEADER}a.com\na.com\n`)).toMatchObject({ kind: "refused" })
})

test("json: a path selects elements, keys and optional members, and can filter", () => {
  const text = '{"list":[{"type":"x","names":["a.com"]},{"type":"y","names":["b.com"]},{"type":"x"}],"map":{"c.com":1}}'
  const read = (path: string) => readJson(text, path)
  expect(read("list.*.type=x.names?.*")).toEqual({ kind: "entries", entries: ["a.com"], malformedCount: 0 })
  expect(read("map.@keys")).toEqual({ kind: "entries", entries: ["c.com"], malformedCount: 0 })
  expect(read("list.*.names.*")).toMatchObject({ entries: ["a.com", "b.com"], malformedCount: 1 })
  expect(read("map.*")).toMatchObject({ entries: [], malformedCount: 1 })
  expect(readJson("[", "*").kind).toBe("refused")
})

test("script: JSON, a string and words are read without running the script", () => {
  expect(readJsModuleJson('module.exports = [{"domain":"a.com"}];\n', "*.domain")).toMatchObject({ entries: ["a.com"] })
  expect(readJsModuleJson("process.exit()", "*").kind).toBe("refused")
  expect(
    readJsStringLines('// x\nvar held = "# no\\na.com\\nb.com\\n";\nvar other = "c.com";\n', "held"),
  ).toMatchObject({
    entries: ["a.com", "b.com"],
  })
  expect(readJsStringLines('var other = "c.com";\n', "held").kind).toBe("refused")
  expect(readJsStringLines('var held = "a" + run();\n', "held").kind).toBe("refused")
  expect(readJsWordArrays("const A = [\n  'sales',\n  'no-reply',\n];\n")).toMatchObject({
    entries: ["sales", "no-reply"],
  })
  expect(readJsWordArrays("").kind).toBe("refused")
})

test("csv: a column is read by name or number, with quotes, empty cells and short rows", () => {
  expect(readCsvColumn('\uFEFFname,domain\r\n"A, ""b""",a.gov\n\nB,b.gov\nC\n', "domain")).toEqual({
    kind: "entries",
    entries: ["a.gov", "b.gov"],
    malformedCount: 1,
  })
  expect(readCsvColumn("1,google.com\n2,youtube.com", "2")).toMatchObject({ entries: ["google.com", "youtube.com"] })
  expect(readCsvColumn("name\nx\n", "domain").kind).toBe("refused")
})

test("tree: the path of folders gives the name, whatever the order of the files", () => {
  const read = readDomainTree(["uk/ac/ox.txt", "de/tum.txt", "stoplist.txt", "de/odd"])
  expect(read).toEqual({ kind: "entries", entries: ["ox.ac.uk", "tum.de"], malformedCount: 1 })
})

test("csv: rows are left out by the value of another column, which must be there", () => {
  const text = 'Name,Kind,Note\na.us,Town,\nb.org,Charity,"x, y"\nc.us\nd.us,charity,\n'
  const at = (path: string) => readCsvColumn(text, path)
  expect(at("Kind!=Charity.Name")).toEqual({ kind: "entries", entries: ["a.us", "c.us", "d.us"], malformedCount: 0 })
  expect(at("Kind!=Charity.Kind!=Town.Name")).toMatchObject({ entries: ["c.us", "d.us"] })
  expect(readCsvColumn("1,x\n2,y\n", "2!=x.1")).toMatchObject({ entries: ["2"] })
  expect(at("Sort!=Charity.Name")).toEqual({ kind: "refused", message: "no column Sort" })
})
