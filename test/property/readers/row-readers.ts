import { parseSubject } from "../../../src/check/address/parse-subject.ts"
import { judgeTestAddress } from "../../../src/check/test-address-evidence.ts"
import { JOB_FORMATS, JOB_LIMITS, type JobFormat } from "../../../src/contract/jobs.ts"
import { POLICY_DEFAULT } from "../../../src/contract/policies.ts"
import { estimateList } from "../../../src/jobs/list-estimate.ts"
import { type ListBlock, receiveList } from "../../../src/jobs/receive-list.ts"
import { readRow } from "../../../src/rows/input-rows.ts"
import { SINGLE_COLUMN } from "../../../src/rows/reading-plan.ts"
import { RESULT_FORMATS } from "../../../src/rows/result-format.ts"
import { workbook } from "../../rows/workbook.ts"
import { FOUND } from "../../support/file-rows.ts"
import { pauseOfServer, type Reader } from "./reader.ts"

/** The largest list by default. */
const JOB_BYTES_MAX = 104_857_600
const TEST_DOMAIN = "mailkind.test"
const BUSINESS = judgeTestAddress(parseSubject("email", `business@${TEST_DOMAIN}`, TEST_DOMAIN), true, POLICY_DEFAULT)

async function* chunked(bytes: Uint8Array): AsyncGenerator<Uint8Array, undefined> {
  yield bytes
}

/** Reads an uploaded list and writes its results, as a job does, with one verdict for all rows. */
async function readList(format: JobFormat, bytes: Uint8Array): Promise<void> {
  const reading = { ...FOUND, encoding: null, format, isForced: true }
  const pause = pauseOfServer()
  const writeResults = async ({ rows }: ListBlock): Promise<void> => {
    const results = RESULT_FORMATS[JOB_FORMATS[format].results](SINGLE_COLUMN, {
      hasSafeCells: false,
      tellsCached: false,
    })
    for (const given of rows()) {
      const { row, subject } = readRow(given, TEST_DOMAIN)
      results.format(row, subject === null ? null : { ...BUSINESS, subject }, 1)
      await pause()
    }
  }
  await receiveList(chunked(bytes), reading, JOB_BYTES_MAX, writeResults, pause)
}

const estimate = (format: JobFormat, bytes: Uint8Array): Promise<unknown> => {
  const reading = { ...FOUND, encoding: null, format, isForced: true }
  return estimateList(
    { testDomain: TEST_DOMAIN, pauseReading: pauseOfServer(), onChecked: () => undefined },
    chunked(bytes),
    reading,
    JOB_BYTES_MAX,
  )
}

const LIST = {
  files: [
    "jobs/receive-list.ts",
    "rows/plan-file.ts",
    "rows/row-reader.ts",
    "rows/beginning.ts",
    "rows/file-format.ts",
    "rows/input-decoder.ts",
    "rows/record-cutter.ts",
    "rows/line-splitter.ts",
    "rows/input-rows.ts",
    "rows/result-format.ts",
    "rows/open-input.ts",
  ],
  bytesMax: JOB_BYTES_MAX,
  memoryBytesMax: 128 * 1_048_576,
  isUnpacking: true,
} as const

const CSV = {
  tokens: ['"', ",", ";", "\t", "\n", "\r\n", " ", "a", "a@b.com", "'", "=", "\ufeff", '","', ',"', '",'],
  once: ['a","\n', 'a";"\n', 'a"\t"\n', "\n"],
  plain: "jo@acme.com,Jo\n",
  frame: (text: string) => `email,x\n${text}`,
}

/** What stands around addresses in a cell. */
const CELL_TOKENS = [
  ...[
    "<",
    ">",
    "(",
    ")",
    "[",
    "]",
    "{",
    "'",
    '"',
    "`",
    "@",
    ".",
    ",",
    ";",
    ":",
    "|",
    "/",
    " ",
    "\t",
    "%",
    "%40",
    "=",
    "?",
  ],
  ...["\u00a0", "\u200b", "\ufeff", "\u00ad", "\u201c", "mailto:", "a", "é", "a@b.com", "<a@b.com>", "Jo <", "N/A"],
]

/** A list of which nothing is said. What it unpacks to, or that it is damaged, may refuse it. */
async function readAny(bytes: Uint8Array): Promise<void> {
  const reading = { ...FOUND, encoding: null, format: null, isForced: true }
  const pause = pauseOfServer()
  await receiveList(chunked(bytes), reading, JOB_BYTES_MAX, async () => undefined, pause)
}

const FIRST_ROW = '<row><c t="inlineStr"><is><t>a@b.co</t></is></c></row>'

/** Its bytes are packed already. */
const { isUnpacking: _, ...PACKED } = LIST
const SHEET = { ...PACKED, bytesMax: JOB_LIMITS.archiveBytesMax, read: readAny } as const

/** The readers of lists of addresses. */
export const ROW_READERS: readonly Reader[] = [
  {
    ...LIST,
    name: "cells that are cleaned",
    files: ["rows/clean-cell.ts", "rows/input-rows.ts"],
    tokens: [...CELL_TOKENS, "\n"],
    once: ["<@", "a@b.com;", " (", "mailto:", "\u200b@"],
    plain: "Jo <jo@acme.com>\n",
    read: bytes => estimate("text", bytes),
  },
  {
    ...LIST,
    name: "one cell that is cleaned",
    files: ["rows/clean-cell.ts"],
    tokens: CELL_TOKENS,
    frame: text => `a@b.com\n${text}`,
    plain: "jo@acme.com;",
    read: bytes => estimate("text", bytes),
  },
  {
    ...LIST,
    name: "beginning of a table",
    files: ["rows/table-plan.ts", "rows/table-reading.ts", "rows/plan-file.ts"],
    tokens: [...CSV.tokens, "|", "email", "url", "Domain", "https://a.co", "N/A", "sep=;"],
    once: [",", "email,", "a@b.com,", "a@b.com;x\n"],
    plain: "Jo;jo@acme.com\n",
    frame: text => `Notes:\n${text}`,
    read: readAny,
  },
  {
    ...LIST,
    ...CSV,
    name: "list of CSV",
    files: [...LIST.files, "rows/csv-reader.ts", "rows/input-column.ts", "rows/table-reading.ts"],
    read: bytes => readList("csv", bytes),
  },
  {
    ...LIST,
    ...CSV,
    name: "header of CSV",
    files: ["rows/input-column.ts"],
    frame: text => `${text}\na@b.com\n`,
    plain: "email,name,",
    read: bytes => readList("csv", bytes),
  },
  {
    ...LIST,
    name: "list of NDJSON",
    files: [...LIST.files, "base/json-members.ts"],
    tokens: ['"', "{", "}", "[", "]", ":", ",", "\\", "\n", " ", '"category":1,', '"a":1,', '"email":"a@b.com"', "1"],
    plain: '{"email":"jane@example.com","name":"Jane"}\n',
    read: bytes => readList("ndjson", bytes),
  },
  {
    ...LIST,
    name: "members of NDJSON",
    files: ["base/json-members.ts"],
    tokens: ['"category":1,', '"input_category":1,', '"a":1,', '"b":{},', '"c":[],', '"d":"\\"",', '"\\u0061":2,'],
    once: ['"category":1,', '"input_category":1,"category":1,'],
    plain: '"name":"Jane Doe"},\n{"email":"jane@example.com","city":"Berlin",',
    frame: text => `{"email":"a@gmail.com",${text}"z":1}\n`,
    read: bytes => readList("ndjson", bytes),
  },
  {
    ...LIST,
    name: "list of text",
    tokens: ["\n", "\r", "\r\n", "\t", " ", "a", "@", "a@b.com", ".", "/", '"', "é", "\ufffd"],
    plain: "jo@acme.com\n",
    read: bytes => readList("text", bytes),
  },
  {
    ...LIST,
    ...CSV,
    name: "wide table of CSV",
    files: ["rows/csv-reader.ts"],
    frame: text => `email${",".repeat(999)}\n${text}`,
    read: bytes => readList("csv", bytes),
  },
  {
    ...LIST,
    ...CSV,
    name: "dry run of a wide table",
    files: ["jobs/list-estimate.ts"],
    frame: text => `email${",".repeat(999)}\n${text}`,
    read: bytes => estimate("csv", bytes),
  },
  {
    ...LIST,
    ...CSV,
    name: "dry run of CSV",
    files: ["jobs/list-estimate.ts"],
    read: bytes => estimate("csv", bytes),
  },
  {
    ...LIST,
    name: "list of a JSON array",
    files: ["base/json-array.ts"],
    tokens: ['"', "{", "}", "[", "]", ":", ",", "\\", "\n", " ", '"a@b.co",', "[],", '{"email":"a@b.com"},', "1,"],
    plain: '{"email":"jane@example.com","name":"Jane"},\n',
    frame: text => `["a@b.co",${text}1]`,
    read: bytes => readAny(bytes),
  },
  {
    ...SHEET,
    name: "sheet of a workbook",
    files: ["base/zip-archive.ts", "rows/sheet/xlsx-sheet.ts", "rows/sheet/sheet-rows.ts", "rows/sheet/xml-reader.ts"],
    tokens: [
      "<row>",
      "</row>",
      "<c>",
      '<c r="Z1">',
      '<c t="s">',
      "</c>",
      "<v>",
      "</v>",
      "<is><t>",
      "1",
      "<",
      ">",
      "&",
      "&#65;",
      "<!--",
      "-->",
      "<a/>",
      '<c s="1">',
    ],
    plain: '<row><c t="inlineStr"><is><t>jane@example.com</t></is></c><c s="1"><v>45000</v></c></row>',
    frame: text =>
      workbook({ a: FIRST_ROW + text }, { styles: '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>' }),
  },
  {
    ...SHEET,
    name: "texts of a workbook",
    files: ["rows/sheet/sheet-strings.ts"],
    tokens: [
      "<si>",
      "</si>",
      "<t>",
      "</t>",
      "<r>",
      "</r>",
      "<rPh>",
      "a",
      "_x000A_",
      "_x",
      "&amp;",
      "&",
      "<",
      ">",
      "<![CDATA[",
      "]]>",
    ],
    plain: "<si><t>jane@example.com</t></si>",
    frame: text => workbook({ a: FIRST_ROW }, { texts: text }),
  },
  {
    ...SHEET,
    name: "styles of a workbook",
    files: ["rows/sheet/cell-formats.ts"],
    tokens: [
      '<numFmt numFmtId="164" formatCode="',
      '"/>',
      "yyyy",
      "0",
      "#",
      ";",
      "[",
      "]",
      "?/",
      "<xf/>",
      '<xf numFmtId="164"/>',
      "@",
      "E+",
    ],
    plain: '<numFmt numFmtId="165" formatCode="0.00"/>',
    frame: text =>
      workbook(
        { a: `${FIRST_ROW}<row><c s="0"><v>45000.5</v></c></row>` },
        { styles: `<cellXfs><xf numFmtId="164"/></cellXfs>${text}` },
      ),
  },
]
