import { parseSubject } from "../../../src/check/address/parse-subject.ts"
import { judgeTestAddress } from "../../../src/check/test-address-evidence.ts"
import { JOB_FORMATS, type JobFormat } from "../../../src/contract/jobs.ts"
import { POLICY_DEFAULT } from "../../../src/contract/policies.ts"
import { estimateList } from "../../../src/jobs/list-estimate.ts"
import { type ListBlock, receiveList } from "../../../src/jobs/receive-list.ts"
import { readRow } from "../../../src/rows/input-rows.ts"
import { SINGLE_COLUMN } from "../../../src/rows/reading-plan.ts"
import { RESULT_FORMATS } from "../../../src/rows/result-format.ts"
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
  return estimateList(chunked(bytes), reading, JOB_BYTES_MAX, TEST_DOMAIN, pauseOfServer())
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

/** The readers of lists of addresses. */
export const ROW_READERS: readonly Reader[] = [
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
    files: [...LIST.files, "rows/ndjson-members.ts"],
    tokens: ['"', "{", "}", "[", "]", ":", ",", "\\", "\n", " ", '"category":1,', '"a":1,', '"email":"a@b.com"', "1"],
    plain: '{"email":"jane@example.com","name":"Jane"}\n',
    read: bytes => readList("ndjson", bytes),
  },
  {
    ...LIST,
    name: "members of NDJSON",
    files: ["rows/ndjson-members.ts"],
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
]
