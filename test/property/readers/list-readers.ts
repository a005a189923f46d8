import { parseAddressOrDomain } from "../../../src/check/address/parse-subject.ts"
import type { LargeFormat, SourceFormat } from "../../../src/check/lists/sources/catalogue.ts"
import { FORMAT_READERS } from "../../../src/check/lists/sources/source-formats.ts"
import { LARGE_BOUNDS, LARGE_READERS } from "../../../src/check/refresh/large-sources.ts"
import { parseRefreshState } from "../../../src/check/refresh/refresh-state.ts"
import { textFault } from "../../../src/check/refresh/source-validation.ts"
import { parseDownload } from "../../../src/check/refresh/stored-download.ts"
import { readCommits } from "../../../src/check/refresh/window-past.ts"
import { readSettings } from "../../../src/config/setting-sources.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import { type EntryTextFormat, parseEntries } from "../../../src/customers/own-lists/entries.ts"
import { tarEntry, tarOf, zipOf } from "../../support/archives.ts"
import { pauseOfServer, type Reader, textOf } from "./reader.ts"

const readEntries = (bytes: Uint8Array, format: EntryTextFormat) =>
  parseEntries(textOf(bytes), format, parseAddressOrDomain, 10, pauseOfServer())

const ROR_RECORD = JSON.stringify({
  ...{ status: "active", types: ["education"], names: [{ value: "A University" }] },
  links: [{ type: "website", value: "https://www.a.edu/" }],
})

const OWN_LIST = {
  files: ["customers/own-lists/entries.ts", "customers/own-lists/entry-table.ts"],
  bytesMax: LIMITS.ownListFormBytesMax,
  memoryBytesMax: 48 * 1_048_576,
} as const

const SOURCE = { bytesMax: 16 * 1_048_576, memoryBytesMax: 512 * 1_048_576, isApart: true } as const

/** The reader of a format of list sources, as a refresh calls it. */
function source(format: SourceFormat, at: string, rest: Pick<Reader, "tokens" | "plain" | "frame">): Reader {
  return {
    ...SOURCE,
    ...rest,
    name: `source of ${format}`,
    files: ["check/lists/sources/source-formats.ts", "check/refresh/source-validation.ts"],
    read: bytes => {
      const text = textOf(bytes)
      if (textFault(text) === null) FORMAT_READERS[format]({ read: () => text, list: () => text.split("\n") }, "", at)
    },
  }
}

const LARGE = { bytesMax: LARGE_BOUNDS.bytesMax, memoryBytesMax: 512 * 1_048_576, isApart: true } as const

/** The reader of a kind of large source. */
const large = (kind: LargeFormat, rest: Pick<Reader, "files" | "tokens" | "plain" | "frame">): Reader => ({
  ...LARGE,
  ...rest,
  name: `large source of ${kind}`,
  read: bytes =>
    LARGE_READERS[kind](
      (async function* () {
        yield bytes
      })(),
      "parent",
    ),
})

/** The readers of lists of domains: own lists, list sources and their stored downloads; and of configuration files. */
export const LIST_READERS: readonly Reader[] = [
  large("swot_archive", {
    files: ["check/refresh/large-sources.ts", "base/tar-archive.ts"],
    tokens: ["edu\n", "\0", "ustar", "/", "../", "0000777", " "],
    plain: "ac.uk\n",
    frame: text =>
      tarOf(tarEntry("swot-master/lib/domains/edu/mit.txt"), tarEntry("swot-master/lib/domains/tlds.txt", text)),
  }),
  large("ror_dump", {
    files: ["check/refresh/ror-dump.ts", "check/refresh/divided-lines.ts"],
    tokens: ['"', "{", "}", "[", "]", ":", ",", "\\", "\n", "{},", '"names":[],', '"https://a.edu/"', " "],
    plain: `${ROR_RECORD},\n`,
    frame: text => zipOf({ "ror-data_schema_v2.json": `[${text}${ROR_RECORD}]` }),
  }),
  large("csv_column", {
    files: ["check/refresh/large-sources.ts", "check/refresh/divided-lines.ts"],
    tokens: [",", '"', "\n", "\r\n", "a.gov", "\u00e9"],
    plain: "www.a.gov,a.gov,200\n",
    frame: text => `host,parent,status\n${text}`,
  }),
  {
    name: "list of commits",
    files: ["check/refresh/window-past.ts"],
    bytesMax: 4 * 1_048_576,
    memoryBytesMax: 256 * 1_048_576,
    isApart: true,
    tokens: ['"', "{", "}", "[", "]", ",", '"sha":', '"2026-01-01T00:00:00Z"', "null"],
    plain: '{"sha":"0123456789012345678901234567890123456789","commit":{"committer":{"date":"2026-01-01T00:00:00Z"}}},',
    frame: text => `[${text}0]`,
    read: bytes => readCommits(textOf(bytes)),
  },
  {
    ...OWN_LIST,
    name: "own list, pasted",
    tokens: ["\n", "\r", "\u2028", ",", ";", " ", "#", " #", "\t", "*.", "@", "a.com", "sha256:", '"', "\u00a0"],
    plain: "jane@example.com\n",
    read: bytes => readEntries(bytes, "pasted"),
  },
  {
    ...OWN_LIST,
    name: "own list, table",
    tokens: ["\n", "\r\n", ",", ";", "\t", " ", '"', '""', "#", "'", "=", "a.com", "…", "@"],
    plain: "jane@example.com\ta note\tj…e@example.com\n",
    frame: text => `entry\tnote\tshown_as\n${text}`,
    read: bytes => readEntries(bytes, "table"),
  },
  {
    ...OWN_LIST,
    name: "own list, row of a table",
    tokens: ["\t", " ", '"', '""', "\u00a0", "a", "'", "="],
    once: ["\t", ' "'],
    plain: "a note\t",
    frame: text => `entry\tnote\tshown_as\na.com${text}\n`,
    read: bytes => readEntries(bytes, "table"),
  },
  {
    ...OWN_LIST,
    name: "own list, table with commas",
    tokens: ["\n", "\r\n", ",", ";", "\t", " ", '"', '""', "\u00a0", "a.com"],
    plain: "jane@example.com,a note,j…e@example.com\n",
    frame: text => `entry,note,shown_as\n${text}`,
    read: bytes => readEntries(bytes, "table"),
  },
  source("lines", "", { tokens: ["\n", "\r", " ", "#", " #", "a.com", "\t"], plain: "example.com\n" }),
  source("curated", "", {
    tokens: ["\n", "# ", "#", ": ", "set: ", " ", "a"],
    plain: "a.com # a comment\n",
    frame: text => `# set: disposable\n# says: a\n# origin: b\n# licence: MIT\n# date: 2026-01-01\n${text}`,
  }),
  source("json", "*.type=a.domains?.*", {
    tokens: ['"', "{", "}", "[", "]", ":", ",", "\\", '{"type":"a","domains":["b"]},', '"a":1,', "1", " "],
    plain: '{"type":"a","domains":["example.com"]},',
    frame: text => `[${text.replace(/,$/, "")}]`,
  }),
  source("script_json", "*", {
    tokens: ["module.exports", "=", "[", "]", "{", "}", ";", " ", "\n", '"a",'],
    plain: '"example.com",\n',
    frame: text => `module.exports = [${text}"z"];`,
  }),
  source("script_text", "list", {
    tokens: ["var list = ", '"', "\\n", ";", "\n", " ", "\\", "a"],
    plain: "example.com\\n",
    frame: text => `var list = "${text}";`,
  }),
  source("script_words", "", { tokens: ["'", "\\", ",", "\n", " ", "a", "',"], plain: "  'example.com',\n" }),
  source("csv", "Type!=x.Domain", {
    tokens: ['"', ",", "\n", "\r\n", '""', "a", "x"],
    plain: "example.com,Federal,Washington\n",
    frame: text => `Domain,Type,City\n${text}`,
  }),
  source("tree", "", { tokens: ["/", ".txt", "\n", "a", "."], plain: "uk/ac/ox.txt\n" }),
  {
    ...SOURCE,
    name: "stored download",
    files: ["check/refresh/stored-download.ts", "check/refresh/refresh-state.ts"],
    tokens: ['"', "{", "}", "\n", "\t", "a.com", "2026-01-01", ":", ","],
    plain: "example.com\t2026-01-01\n",
    read: bytes => {
      parseDownload(textOf(bytes))
      parseRefreshState(bytes)
    },
  },
  {
    name: "configuration file",
    files: ["config/setting-sources.ts"],
    tokens: [
      "a",
      "=",
      "\n",
      "[",
      "]",
      "[[",
      "]]",
      ".",
      '"',
      '"""',
      "'",
      "'''",
      "{",
      "}",
      "#",
      "1",
      "\\",
      ",",
      "port = 1\n",
    ],
    plain: "port = 9000\n",
    bytesMax: 1_048_576,
    memoryBytesMax: 64 * 1_048_576,
    isApart: true,
    read: bytes => {
      const text = textOf(bytes)
      readSettings({
        environment: { MAILKIND_CONFIG: "/x" },
        flags: new Map(),
        readFile: () => ({ kind: "read", text, isReadableByAll: false }),
      })
    },
  },
  {
    name: "names of a configuration file",
    files: ["config/setting-sources.ts"],
    tokens: ["port", "host", "=", "1", "\n", "admins", ".", "[", "]"],
    plain: "port = 9000\n",
    frame: text => [...text.matchAll(/.{1,12}/gs)].map(([part], at) => `a${at} = ${JSON.stringify(part)}\n`).join(""),
    bytesMax: 1_048_576,
    memoryBytesMax: 64 * 1_048_576,
    isApart: true,
    read: bytes => {
      const text = textOf(bytes)
      readSettings({
        environment: { MAILKIND_CONFIG: "/x" },
        flags: new Map(),
        readFile: () => ({ kind: "read", text, isReadableByAll: false }),
      })
    },
  },
]
