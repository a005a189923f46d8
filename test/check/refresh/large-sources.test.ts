import { describe, expect, test } from "bun:test"
import type { CatalogueSource, LargeFormat } from "../../../src/check/lists/sources/catalogue.ts"
import { LARGE_BOUNDS, largeDownloads } from "../../../src/check/refresh/large-sources.ts"
import { createFiles } from "../../../src/system/files.ts"
import { tarEntry, tarOf, zipOf } from "../../support/archives.ts"
import { bareServer, countedTime, loopbackFetch, webServer } from "../fetch/loopback-web.ts"

const SWOT = [
  tarEntry("pax_global_header", "52 comment=0123456789abcdef\n", { 156: "g" }),
  tarEntry("swot-master/README.md", "a text"),
  tarEntry("swot-master/lib/domains/uk/ac/ox.txt", "University of Oxford\n"),
  tarEntry("domains/edu/mit.txt", "MIT\n", { 345: "swot-master/lib" }),
  tarEntry("swot-master/lib/domains/tlds.txt", "edu\nac.uk\n"),
  tarEntry("swot-master/lib/domains/stoplist.txt", "alumni.example\n"),
  tarEntry("swot-master/lib/domains/abused.txt", "sold.example\n"),
]

/** A record of the registry, as far as it is read. */
const organisation = (url: string, types: readonly string[], name: string, rest: object = {}) => ({
  ...{ status: "active", types, names: [{ value: name, types: ["ror_display"] }] },
  ...{ links: [{ type: "website", value: url }], domains: [], ...rest },
})

const RECORDS = [
  organisation("https://www.tuwien.at/en", ["education", "funder"], "TU Wien"),
  organisation("https://ministry.example/", ["government"], "Ministry of Science"),
  organisation("https://firm.example", ["company"], "Firm AG"),
  organisation("https://clinic.example", ["education", "healthcare"], "Clinic North"),
  organisation("https://medical.example", ["education", "healthcare"], "Medical University"),
  organisation("https://lab.example", ["government", "facility"], "Lab 7"),
  organisation("https://bureau.example", ["government", "facility"], "Bureau of Standards"),
  organisation("https://sites.google.com/view/college", ["education"], "A College"),
  organisation("https://gone.example", ["education"], "Gone University", { status: "inactive" }),
  organisation("https://old.example/page?id=7", ["education"], "Old College", { domains: ["own.example"] }),
]

const dumpOf = (json: string, name = "v2.0-2026-01-01-ror-data_schema_v2.json"): Uint8Array<ArrayBuffer> =>
  zipOf({ [name]: json, "v2.0-ror-data.csv": "id\n" })

/** What a large download from a loopback server gives for each part. */
async function downloaded(
  large: LargeFormat,
  parts: readonly string[],
  answer: (request: Request) => Response,
  at?: string,
) {
  const { fetchUrl, requestedUrls } = loopbackFetch()
  const time = countedTime()
  const server = webServer(answer)
  const download = largeDownloads({ fetchUrl, setTimer: time.later, userAgent: "mailkind", clock: () => 0 })
  const url = `${server.url}source`
  const results = await Promise.all(
    parts.map(async part => {
      const from = { url, file: "source", format: "lines", large, part, ...(at === undefined ? {} : { at }) } as const
      const row: CatalogueSource = { id: "large", set: "education", trust: "high", from }
      const result = await download(row, url)
      if (result.kind === "taken") return result.text.trimEnd().split("\n")
      return result.kind === "unchanged" ? result.kind : `${result.kind}: ${result.message}`
    }),
  )
  return { results, requestCount: requestedUrls.length }
}

const refusalOf = async (large: LargeFormat, part: string, bytes: Uint8Array<ArrayBuffer>, at?: string) =>
  (await downloaded(large, [part], () => new Response(bytes), at)).results[0]

describe("a large source", () => {
  test("is downloaded once for all of its lists: the archive of swot", async () => {
    const parts = ["schools", "suffixes", "stoplist", "abused"]
    const { results, requestCount } = await downloaded("swot_archive", parts, () => new Response(tarOf(...SWOT)))
    expect(results).toEqual([["mit.edu", "ox.ac.uk"], ["edu", "ac.uk"], ["alumni.example"], ["sold.example"]])
    expect(requestCount).toBe(1)
  })

  test("is a dump of organisations, whose type and name say which list is theirs", async () => {
    const parts = ["education", "government", "known"]
    const dump = dumpOf(JSON.stringify(RECORDS, null, 2))
    expect((await downloaded("ror_dump", parts, () => new Response(dump))).results).toEqual([
      ["tuwien.at", "medical.example", "own.example"],
      ["ministry.example", "bureau.example"],
      [
        ...["tuwien.at", "ministry.example", "firm.example", "clinic.example", "medical.example"],
        ...["lab.example", "bureau.example", "own.example"],
      ],
    ])
  })

  test("is one column of a table, each name of which counts once", async () => {
    const table =
      'host,parent,status\na.gov.by,gov.by,"no, none"\nb.gov.by,gov.by,200\nx.18f.gov,18f.gov,200\r\n"q,",bad,1\n'
    const { results } = await downloaded("csv_column", ["parent"], () => new Response(table), "parent")
    expect(results).toEqual([["gov.by", "18f.gov"]])
  })

  test.each<[string, LargeFormat, string, () => Uint8Array<ArrayBuffer>, string | RegExp]>([
    [
      "leads outside by dots",
      "swot_archive",
      "schools",
      () => tarOf(...SWOT, tarEntry("swot-master/lib/domains/../../../etc/passwd.txt")),
      "refused: It has a path that leads outside of its archive.",
    ],
    [
      "leads outside from the root",
      "swot_archive",
      "schools",
      () => tarOf(tarEntry("/etc/passwd")),
      "refused: It has a path that leads outside of its archive.",
    ],
    [
      "has a member that never ends",
      "swot_archive",
      "schools",
      () => tarOf(...SWOT, tarEntry("swot-master/big", "", { 124: "77777777777" })),
      "refused: It is a tar archive that is cut off.",
    ],
    [
      "has a list that is too long",
      "swot_archive",
      "suffixes",
      () => tarOf(tarEntry("swot-master/lib/domains/tlds.txt", "", { 124: "00077777777" })),
      "refused: It has a file of 16777215 bytes in its archive, more than 4194304.",
    ],
    [
      "has a broken header",
      "swot_archive",
      "schools",
      () => Bun.gzipSync(new Uint8Array(Buffer.concat([...SWOT, Buffer.alloc(512, "x")]))),
      "refused: It is a damaged tar archive.",
    ],
    ["has no schools", "swot_archive", "schools", () => tarOf(), "refused: It has no folder lib/domains."],
    ["is no archive", "swot_archive", "schools", () => bytesOf("swot"), /^failed: It failed with Z_/],
    ["unpacks to a bomb", "swot_archive", "schools", bomb, "refused: It unpacks to more than 536870912 bytes."],
    ["is no zip archive", "ror_dump", "education", () => bytesOf("a,b"), /^refused: It is a damaged zip archive/],
    [
      "has a path outside in a zip archive",
      "ror_dump",
      "education",
      () => dumpOf("[]", "../ror-data_schema_v2.json"),
      /^refused: It is a damaged zip archive/,
    ],
    [
      "has no records",
      "ror_dump",
      "education",
      () => dumpOf("{", "x.txt"),
      "refused: It is an archive without a JSON file.",
    ],
    [
      "is cut off",
      "ror_dump",
      "education",
      () => dumpOf('[{"a":1},'),
      /^refused: It ends in the middle of its JSON array/,
    ],
    [
      "has records of another schema",
      "ror_dump",
      "education",
      () => dumpOf(JSON.stringify([{ id: 1 }, { id: 2 }])),
      "refused: It has 2 records of 2 that cannot be read.",
    ],
    [
      "has a record that never ends",
      "ror_dump",
      "education",
      () => dumpOf(`[{"a":"${"x".repeat(2_000_000)}"}]`),
      /^refused: It has a first element of more than 1048576 bytes/,
    ],
    ["has no such column", "csv_column", "parent", () => bytesOf("a,b\n1,2\n"), "refused: It has no column parent."],
    [
      "has a line that never ends",
      "csv_column",
      "parent",
      () => bytesOf(`a,parent\n${"x".repeat(200_000)}`),
      "refused: It has a line of more than 65536 characters.",
    ],
  ])("is refused, and told why, when it %s", async (_, large, part, bytes, message) => {
    const told = await refusalOf(large, part, bytes(), "parent")
    expect(told).toEqual(typeof message === "string" ? message : expect.stringMatching(message))
  })

  test("is not read further than its bound, be it told at first or not", async () => {
    const told = { headers: { "content-length": String(2 ** 31) } }
    const chunk = new Uint8Array(16 * 1024 * 1024)
    const endless = () => new ReadableStream({ pull: controller => controller.enqueue(chunk) })
    expect(await givenBy(SOURCE, () => new Response(endless()))).toBe(
      `failed: It has more than ${LARGE_BOUNDS.bytesMax} bytes.`,
    )
    expect(await givenBy(SOURCE, () => new Response(endless(), told))).toBe(
      `failed: Its Content-Length is ${2 ** 31} bytes, more than ${LARGE_BOUNDS.bytesMax}.`,
    )
  })

  test("is not fetched further once it is refused", async () => {
    const cases = [
      ["swot_archive", Bun.gzipSync(new Uint8Array(512).fill(65))],
      ["csv_column", bytesOf("a,b\n1,2\n")],
    ] as const
    const seen = await Promise.all(
      cases.map(async ([large, start]) => {
        const request = Promise.withResolvers<AbortSignal>()
        const body = new ReadableStream({ start: controller => controller.enqueue(start) })
        const fetchUrl = async (_: string, { signal }: { readonly signal: AbortSignal }) => {
          request.resolve(signal)
          return new Response(body)
        }
        const from = { ...SOURCE, large, at: "parent" }
        const deps = { fetchUrl, setTimer: countedTime().later, userAgent: "mailkind", clock: () => 0 }
        const { kind } = await largeDownloads(deps)({ id: "large", set: "education", trust: "high", from }, from.url)
        return [kind, (await request.promise).aborted]
      }),
    )
    expect(seen).toEqual(cases.map(() => ["refused", true]))
  })

  test("has its connection closed once it is refused, while its server would send more", async () => {
    const server = bareServer()
    const from = { ...SOURCE, large: "csv_column", at: "parent" } as const
    const deps = { ...loopbackFetch(), setTimer: countedTime().later, userAgent: "mailkind", clock: () => 0 }
    const result = largeDownloads(deps)({ id: "large", set: "education", trust: "high", from }, server.url)
    await server.send("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\na,b\n1,2\n")
    expect(await result).toEqual({ kind: "refused", message: "It has no column parent." })
    await server.closed()
  })

  test("may be a file of this host, which is read as a stream within the same bound", async () => {
    const chunk = new Uint8Array(16 * 1024 * 1024)
    const files: Readonly<Record<string, () => AsyncIterable<Uint8Array>>> = {
      "/mirror/ror.zip": () => new Response(dumpOf(JSON.stringify(RECORDS))).body as ReadableStream<Uint8Array>,
      "/mirror/endless": () => new ReadableStream({ pull: controller => controller.enqueue(chunk) }),
    }
    const given = async (url: string) => {
      const result = await largeDownloads({
        fetchUrl: () => Promise.reject(new Error("nothing is fetched")),
        setTimer: countedTime().later,
        userAgent: "mailkind",
        clock: () => 0,
        readParts: path => files[path]?.() ?? createFiles().readParts(path),
      })({ id: "large", set: "education", trust: "high", from: SOURCE }, url)
      return result.kind === "taken" ? result.text.includes("tuwien.at") : "message" in result && result.message
    }
    const urls = ["/mirror/ror.zip", "/mirror/endless", "/mirror/nothing", "host/ror.zip"]
    expect(await Promise.all(urls.map(path => given(`file://${path}`)))).toEqual([
      true,
      `It has more than ${LARGE_BOUNDS.bytesMax} bytes.`,
      "It cannot be read (ENOENT).",
      "Its URL names a host. Write it with three slashes: file:///path.",
    ])
  })

  test("is the newest file that an index on the same server names", async () => {
    const latest = { ...SOURCE, latest: "hits.*.files.*.self", file: "ror-data.zip" }
    const dump = dumpOf(JSON.stringify(RECORDS))
    const index = (...urls: readonly string[]) => Response.json({ hits: [{ files: urls.map(self => ({ self })) }] })
    const other = "https://large.example/1/extra.zip"
    const given = (...urls: readonly string[]) =>
      givenBy(latest, url => (url === SOURCE.url ? index(other, ...urls) : new Response(url.endsWith("2") ? dump : "")))
    expect(await given("https://large.example/ror-data.zip/2", "https://large.example/ror-data.zip/1")).toBe("taken")
    expect(await given("https://elsewhere.example/ror-data.zip/2")).toBe(
      "refused: Its index names a file on another server.",
    )
    expect(await given()).toBe("refused: Its index names no ror-data.zip.")
  })
})

const SOURCE = { url: "https://large.example/", file: "x", format: "lines", large: "ror_dump", part: "known" } as const

/** What comes of a source when these are the answers of its server. */
async function givenBy(from: CatalogueSource["from"], answer: (url: string) => Response): Promise<string> {
  const fetchUrl = async (url: string) => answer(url)
  const download = largeDownloads({ fetchUrl, setTimer: countedTime().later, userAgent: "mailkind", clock: () => 0 })
  const result = await download({ id: "large", set: "education", trust: "high", from }, from.url ?? "")
  return "message" in result ? `${result.kind}: ${result.message}` : result.kind
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text))

/** Six hundred million zeros after the header of one file. */
function bomb(): Uint8Array<ArrayBuffer> {
  const zeros = Bun.gzipSync(new Uint8Array(100 * 1024 * 1024))
  const entry = Bun.gzipSync(new Uint8Array(tarEntry("swot-master/big", "", { 124: "07777777777" })))
  return new Uint8Array(Buffer.concat([entry, ...Array.from({ length: 6 }, () => zeros)]))
}
