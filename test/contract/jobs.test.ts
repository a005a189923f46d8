import { describe, expect, test } from "bun:test"
import { readdirSync, renameSync } from "node:fs"
import { Value } from "@sinclair/typebox/value"
import { JOB_LIMITS } from "../../src/contract/jobs.ts"
import { CallbackSecretBody, JobBody, JobEstimateBody, JobListBody } from "../../src/contract/jobs-schema.ts"
import { type AppOptions, testApp } from "../support/app.ts"
import { anotherAccount } from "./another-account.ts"

const LIST = "id,email\n1,jane@gmail.com\n2,x@mailinator.com\n3,nothing\n4,business@mailkind.test\n"
const CSV = { "Content-Type": "text/csv" }

/** A server, and what it answers in text. */
async function jobsApp(options: AppOptions = {}) {
  const harness = await testApp({ tier: 1, ...options })
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const request = new Request(`http://localhost${path}`, {
      headers: { Authorization: `Bearer ${harness.key}`, ...headers },
    })
    const response = await harness.app(request)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const upload = async (list = LIST, query = ""): Promise<JobBody> => {
    const { status, body } = await harness.ask(`POST /v1/jobs${query}`, { body: list, headers: CSV })
    expect(status).toBe(202)
    return body as JobBody // its schema is checked below
  }
  const files = () => readdirSync(harness.jobsFolder).filter(name => !name.startsWith("installation."))
  const done = async (): Promise<void> => {
    for (let round = 0; round < 3; round++) {
      await harness.jobs.look()
      // Beside live requests a job rests, and the disk takes its own time.
      while (harness.jobs.runningCount > 0) {
        await Bun.sleep(0)
        await harness.time.tick(1)
      }
    }
  }
  return { ...harness, get, upload, done, files }
}

describe("a list", () => {
  test("is uploaded, watched, downloaded and deleted", async () => {
    const app = await jobsApp()
    const sent = await app.ask("POST /v1/jobs?name=May%20list&policy=strict", { body: LIST, headers: CSV })
    const { id } = sent.body
    expect([sent.status, sent.headers.get("location")]).toEqual([202, `/v1/jobs/${id}`])
    expect(sent.body).toMatchObject({ name: "May list", format: "csv", policy: "strict", rows: { total: 4 } })
    await app.done()
    const { body } = await app.ask(`GET /v1/jobs/${id}`)
    expect(body).toMatchObject({
      state: "done",
      reason: null,
      rows: { total: 4, done: 4, unreadable: 0 },
      units_used: 3,
      by_category: { personal: 1, disposable: 1, invalid: 1 },
      by_recommendation: { allow: 1, block: 3 },
      seconds_left: null,
    })
    expect([Value.Check(JobBody, body), Value.Check(JobListBody, (await app.ask("GET /v1/jobs")).body)]).toEqual([
      true,
      true,
    ])
    const results = await app.get(`/v1/jobs/${id}/results`)
    expect([results.status, results.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"])
    expect(results.headers.get("content-disposition")).toBe(`attachment; filename="${id}.csv"`)
    expect(results.text.split("\n").map(line => line.split(",", 3).join())).toEqual([
      "id,email,category",
      "1,jane@gmail.com,personal",
      "2,x@mailinator.com,disposable",
      "3,nothing,invalid",
      "4,business@mailkind.test,business",
      "",
    ])
    expect(Number(body["results_bytes"])).toBe(Buffer.byteLength(results.text))
    expect((await app.get(`/v1/jobs/${id}/results?only=allow`)).text.split("\n")).toHaveLength(3)
    expect((await app.ask(`DELETE /v1/jobs/${id}`)).status).toBe(204)
    for (const line of [`GET /v1/jobs/${id}`, `GET /v1/jobs/${id}/results`, `DELETE /v1/jobs/${id}`])
      expect((await app.ask(line)).body["code"]).toBe("not_found")
    await app.jobs.sweep()
    expect(app.files()).toEqual([])
  })

  test("counts in the usage of the account and of its key, as a batch does", async () => {
    const app = await jobsApp()
    await app.upload()
    await app.done()
    const { body } = await app.ask("GET /v1/usage")
    const counted = { used: 3, batch_items: 3, by_recommendation: { allow: 0, review: 1, block: 2 } }
    expect(body["today"]).toMatchObject({ ...counted, by_key: [{ used: 3 }], remaining: 10_000 - 3 })
  })

  test("is checked under the own lists of its account", async () => {
    const app = await jobsApp()
    await app.ask("POST /v1/jobs", { body: "jane@gmail.com\n" })
    await app.store.run(
      "INSERT INTO own_list_entries (owner, account_id, list, entry, added_at_ms) VALUES ($1, $1, 'block', 'gmail.com', 1)",
      [app.accountId],
    )
    app.customers.ownLists.invalidateAll()
    await app.done()
    const [job] = ((await app.ask("GET /v1/jobs")).body as JobListBody).jobs // checked above
    expect(job?.by_recommendation).toMatchObject({ block: 1 })
  })

  test("is checked under the rules that its account has when its rows are checked", async () => {
    const app = await jobsApp()
    await app.ask("POST /v1/jobs", { body: "jane@gmail.com\njane@mailinator.com\n" })
    await app.ask("PUT /v1/rules", { body: { rules: { personal: "block", disposable: "allow" } } })
    await app.done()
    const [job] = ((await app.ask("GET /v1/jobs")).body as JobListBody).jobs // checked above
    expect(job?.by_recommendation).toMatchObject({ allow: 1, review: 0, block: 1 })
  })

  test("has the columns that were named, and says so", async () => {
    const app = await jobsApp()
    const { body } = await app.ask("POST /v1/jobs?columns=reasons,category,dmarc_policy", { body: LIST, headers: CSV })
    expect(body["columns"]).toEqual(["category", "reasons", "dmarc_policy"])
    await app.done()
    const { text } = await app.get(`/v1/jobs/${body["id"]}/results`)
    expect(text.split("\n").slice(0, 2)).toEqual([
      "id,email,category,reasons,dmarc_policy",
      "1,jane@gmail.com,personal,free_provider dns_unavailable,",
    ])
    const spreadsheet = await app.get(`/v1/jobs/${body["id"]}/results?format=excel`)
    expect(spreadsheet.text.split("\n")[0]).toBe("id,email,category,reasons,dmarc_policy")
  })

  test("is only estimated with `dry`, and nothing of it is stored", async () => {
    const app = await jobsApp()
    const { status, body } = await app.ask("POST /v1/jobs?dry=1", { body: LIST, headers: CSV })
    expect([status, Value.Check(JobEstimateBody, body)]).toEqual([200, true])
    const found = { format: "csv", encoding: "utf-8", delimiter: ",", header_line: 1, lines_above: 0 }
    expect(body).toEqual({
      ...{ rows: 4, rows_skipped: 0, rows_cleaned: 0, unique_domains: 4, units_needed: 3, units_left: 9999 },
      ...{ columns: ["id", "email"], other_columns: [], reading: { ...found, column_number: 2, kind: "email" } },
    })
    expect([await app.store.all("SELECT id FROM jobs"), app.files()]).toEqual([[], []])
    expect((await app.ask("GET /v1/usage")).body["today"]).toMatchObject({ used: 1, by_key: [{ used: 1 }] })
    const acts = await app.store.all("SELECT act FROM admin_acts WHERE act = 'list_uploaded'")
    expect(acts).toEqual([])
  })

  test("of which a dry run is refused costs nothing, and without a unit there is none", async () => {
    const app = await jobsApp({ tiers: "1=-/-/1" })
    const refused = await app.ask("POST /v1/jobs?dry=1", { body: "id,name\n1,Jane\n", headers: CSV })
    expect(refused.body["code"]).toBe("invalid_input")
    const dryRun = () => app.ask("POST /v1/jobs?dry=1", { body: LIST, headers: CSV })
    expect((await dryRun()).body).toMatchObject({ units_needed: 3, units_left: 0 })
    expect((await dryRun()).body).toMatchObject({ code: "quota_exceeded", needed: 1, remaining: 0 })
    expect(await app.store.all("SELECT id FROM jobs")).toEqual([])
  })

  test("takes a place among the uploads of its account while it is only estimated", async () => {
    const app = await jobsApp()
    const wait = Promise.withResolvers<void>()
    const slow = () =>
      app.app(
        new Request("http://localhost/v1/jobs?dry=1", {
          method: "POST",
          headers: { ...CSV, Authorization: `Bearer ${app.key}` },
          body: new ReadableStream({
            pull: async controller => {
              await wait.promise
              controller.enqueue(Buffer.from(LIST))
              controller.close()
            },
          }),
        }),
      )
    const running = Array.from({ length: JOB_LIMITS.uploadsPerAccountMax }, slow)
    while ((await app.store.all("SELECT id FROM jobs")).length < running.length) await Bun.sleep(0)
    for (const query of ["?dry=1", ""])
      expect((await app.ask(`POST /v1/jobs${query}`, { body: LIST, headers: CSV })).body["code"]).toBe("too_many_jobs")
    wait.resolve()
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200])
    expect((await app.ask("POST /v1/jobs?dry=1", { body: LIST, headers: CSV })).status).toBe(200)
  })

  test("goes on when its day has ended, after the units were used up", async () => {
    const app = await jobsApp({ tiers: "1=-/-/2" })
    const { id } = await app.upload()
    await app.done()
    expect((await app.ask(`GET /v1/jobs/${id}`)).body).toMatchObject({
      state: "stopped",
      reason: "units_used_up",
      units_used: 2,
    })
    expect((await app.ask("GET /v1/check?domain=stripe.com")).body["code"]).toBe("quota_exceeded")
    expect((await app.get(`/v1/jobs/${id}/results`)).text.split("\n")).toHaveLength(4)
    await app.time.tick(86_400_000)
    await app.done()
    expect((await app.ask(`GET /v1/jobs/${id}`)).body).toMatchObject({ state: "done", units_used: 3, reason: null })
  })
})

describe("another account", () => {
  test("finds neither a job nor its results, and cannot delete it", async () => {
    const app = await jobsApp()
    const { id } = await app.upload()
    await app.done()
    const { key } = await anotherAccount(app.changes, "john@example.com")
    for (const line of [`GET /v1/jobs/${id}`, `GET /v1/jobs/${id}/results`, `DELETE /v1/jobs/${id}`]) {
      const { status, body } = await app.ask(line, { key })
      expect([status, body["code"]]).toEqual([404, "not_found"])
    }
    expect((await app.ask("GET /v1/jobs", { key })).body).toEqual({ jobs: [] })
    expect((await app.ask(`GET /v1/jobs/${id}`)).status).toBe(200)
  })
})

describe("a download", () => {
  test("continues from any byte, and begins anew when the results have grown", async () => {
    const app = await jobsApp()
    const { id } = await app.upload()
    await app.done()
    const path = `/v1/jobs/${id}/results`
    const { text, headers } = await app.get(path)
    const etag = headers.get("etag") ?? ""
    for (const [range, from, to] of [
      ["bytes=0-9", 0, 10],
      ["bytes=10-", 10, text.length],
      ["bytes=-5", text.length - 5, text.length],
      ["bytes=7-99999", 7, text.length],
    ] as const) {
      const part = await app.get(path, { Range: range, "If-Range": etag })
      expect([part.status, part.text]).toEqual([206, text.slice(from, to)])
      expect(part.headers.get("content-range")).toBe(`bytes ${from}-${to - 1}/${text.length}`)
    }
    for (const more of [
      { Range: "bytes=0-9", "If-Range": '"older"' },
      { Range: "lines=1-2" },
      { Range: "bytes=1-2,4-5" },
      { Range: "bytes=9-1" },
    ]) {
      const whole = await app.get(path, more)
      expect([whole.status, whole.text]).toEqual([200, text])
    }
    const beyond = await app.get(path, { Range: `bytes=${text.length}-` })
    expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, `bytes */${text.length}`])
    expect((await app.get(path, { "If-None-Match": etag })).status).toBe(304)
  })

  test("marks the first row with the same mailbox, with duplicates=mark as with duplicates=true", async () => {
    for (const asked of ["mark", "true", "false"]) {
      const app = await jobsApp()
      const list = "email\nja.ne+x@gmail.com\njane@googlemail.com\njane@hotmail.com\n"
      const { id } = await app.upload(list, `?format=csv&canonical=true&duplicates=${asked}`)
      await app.done()
      const { text } = await app.get(`/v1/jobs/${id}/results`)
      const marked = ["canonical_email,duplicate_of", "jane@gmail.com,", "jane@gmail.com,1", "jane@hotmail.com,", ""]
      const ends = asked === "false" ? marked.map(each => each.replace(/,.*/, "")) : marked
      expect(text.split("\n").every((line, at) => line.endsWith(ends[at] ?? "?"))).toBe(true)
    }
  })

  test("for a spreadsheet has a byte order mark and safe cells, and continues from any byte too", async () => {
    const app = await jobsApp()
    const sep = "Report;=A1\n\n"
    const { id } = await app.upload(
      `${sep}email;n\u00f6te\na@acme.com;=1+1\nb@acme.com;"=2;\n""3"""\nx@mailinator.com;-\n`,
    )
    await app.done()
    const path = `/v1/jobs/${id}/results?format=excel`
    const { text, headers } = await app.get(path)
    const bytes = Buffer.from(`\ufeff${text.replace(/^\ufeff/, "")}`)
    expect(bytes.toString()).toStartWith("\ufeffReport;'=A1\n\nemail;n\u00f6te;category;")
    for (const cells of ["\na@acme.com;'=1+1;", `\nb@acme.com;"'=2;\n""3""";`, "\nx@mailinator.com;'-;"])
      expect(bytes.toString()).toContain(cells)
    expect(headers.get("content-length")).toBeNull()
    const plain = await app.get(`/v1/jobs/${id}/results`)
    expect(plain.text).toContain("a@acme.com;=1+1;")
    expect(plain.headers.get("etag")).not.toBe(headers.get("etag"))
    const etag = headers.get("etag") ?? ""
    for (const from of [3, 40, 120, bytes.length - 2]) {
      const part = await app.get(path, { Range: `bytes=${from}-`, "If-Range": etag })
      expect([part.status, part.text]).toEqual([206, bytes.subarray(from).toString()])
      expect(part.headers.get("content-range")).toBe(`bytes ${from}-${bytes.length - 1}/${bytes.length}`)
    }
    expect((await app.get(path, { "If-None-Match": etag })).status).toBe(304)
    expect((await app.get(`${path}&only=block`)).text.split("\n")).toHaveLength(5)
  })

  test("for a spreadsheet is refused where the results are no table, and other formats are too", async () => {
    const app = await jobsApp()
    const { id } = await app.upload('{"email":"a@acme.com"}\n', "?format=ndjson")
    await app.done()
    for (const format of ["excel", "csv"])
      expect(await app.ask(`GET /v1/jobs/${id}/results?format=${format}`)).toMatchObject({
        status: 400,
        body: { errors: [{ parameter: "format" }] },
      })
  })

  test("is refused as long as the list is not checked", async () => {
    const app = await jobsApp()
    const { id } = await app.upload()
    await app.store.run("UPDATE jobs SET state = 'running'")
    expect((await app.ask(`GET /v1/jobs/${id}/results`)).body["code"]).toBe("job_not_ready")
  })
})

test("a callback secret is made once, and each further one replaces it", async () => {
  const app = await jobsApp()
  const [one, other] = [await app.ask("POST /v1/callback-secret"), await app.ask("POST /v1/callback-secret")]
  for (const { status, body } of [one, other])
    expect([status, Value.Check(CallbackSecretBody, body)]).toEqual([200, true])
  expect(one.body).toEqual({ secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/), former_until: null })
  expect(other.body["secret"]).not.toBe(one.body["secret"])
  expect(Date.parse(String(other.body["former_until"])) - app.time.clock()).toBe(86_400_000)
})

test("a list names its callback URL, which has a callback as soon as the list is done", async () => {
  const app = await jobsApp()
  await app.ask("POST /v1/callback-secret")
  const url = "https://crm.acme.com/hook?a=b%20c"
  const { id, callback } = await app.upload(LIST, `?callback=${encodeURIComponent(url)}`)
  expect(callback).toBe(url)
  await app.done()
  expect(await app.store.all("SELECT job_id, event FROM callbacks")).toEqual([{ job_id: id, event: "job.done" }])
  await app.ask(`DELETE /v1/jobs/${id}`)
  expect(await app.store.all("SELECT id FROM callbacks")).toEqual([])
})

describe("an upload is refused, and leaves nothing behind, that", () => {
  const refusals: readonly (readonly [
    name: string,
    query: string,
    body: BodyInit,
    headers: Record<string, string>,
    code: string,
    detail: RegExp,
  ])[] = [
    ["is no table", "", "PK\x03\x04", CSV, "invalid_input", /zip archive/],
    [
      "has a coding",
      "",
      Bun.gzipSync("a@b.co\n"),
      { "Content-Encoding": "gzip" },
      "invalid_input",
      /without `Content-Encoding`/,
    ],
    [
      "is a zip bomb",
      "",
      Bun.gzipSync(Buffer.alloc(50_000_000, "a@b.example\n")),
      {},
      "payload_too_large",
      /larger than 1000000/,
    ],
    ["is too large", "", Buffer.alloc(1_000_001, "a@b.example\n"), {}, "payload_too_large", /larger than 1000000/],
    ["has 100 000 columns", "", `email${",c".repeat(100_000)}\n`, CSV, "invalid_input", /header/],
    ["has no such column", "?column=mail", LIST, CSV, "invalid_input", /no column of this name/],
    ["is empty", "", "", CSV, "invalid_input", /empty/],
    ["names an unknown format", "?format=xlsx", LIST, {}, "invalid_input", /`format` must be/],
    ["asks for duplicates in another way", "?duplicates=drop", LIST, {}, "invalid_input", /`duplicates` must be mark/],
    [
      "names a result column that does not exist",
      "?columns=category,mx",
      LIST,
      CSV,
      "invalid_input",
      /`columns` must have some of category, /,
    ],
    [
      "names result columns of NDJSON",
      "?format=ndjson&columns=category",
      LIST,
      {},
      "invalid_input",
      /Only CSV has columns/,
    ],
    ["names a column of a text", "?format=text&column=1", LIST, {}, "invalid_input", /no columns/],
    ["says twice what it is", "?format=csv&format=csv", LIST, {}, "invalid_input", /more than once/],
    ["has a name that is too long", `?name=${"n".repeat(101)}`, LIST, {}, "invalid_input", /`name` must have/],
    ["names a callback that is no URL", "?callback=crm", LIST, {}, "invalid_input", /cannot go there.*malformed/],
    ["names a callback without TLS", "?callback=http://acme.com/", LIST, {}, "invalid_input", /URL of https/],
    ["names a callback at an IP address", "?callback=https://10.0.0.1/", LIST, {}, "invalid_input", /is an IP address/],
    [
      "names a callback at this host",
      "?callback=https://localhost/",
      LIST,
      {},
      "invalid_input",
      /not a name of the public/,
    ],
    ["names a callback at a port", "?callback=https://acme.com:8443/", LIST, {}, "invalid_input", /port/],
    ["names a callback with a password", "?callback=https://me:pw@acme.com/", LIST, {}, "invalid_input", /password/],
    ["names an endless callback", `?callback=https://acme.com/${"x".repeat(2048)}`, LIST, {}, "invalid_input", /2048/],
    [
      "names a callback without a secret",
      "?callback=https://acme.com/",
      LIST,
      {},
      "invalid_input",
      /POST \/v1\/callback-secret/,
    ],
    ["has a bad switch", "?dry=maybe", LIST, {}, "invalid_input", /`dry` must be/],
  ]
  test.each(refusals)("%s", async (_, query, body, headers, code, detail) => {
    const app = await jobsApp({ jobBytesMax: "1000000" })
    for (const dry of ["", query.includes("dry") ? "" : `${query === "" ? "?" : "&"}dry=1`]) {
      const answer = await app.ask(`POST /v1/jobs${query}${dry}`, { body, headers })
      expect(answer.body["code"]).toBe(code)
      expect(answer.body["detail"]).toMatch(detail)
    }
    expect([await app.store.all("SELECT id FROM jobs"), app.files()]).toEqual([[], []])
  })

  test("never ends", async () => {
    const app = await jobsApp({ jobBytesMax: "1000000" })
    let sent = 0
    const endless = new ReadableStream({
      pull: controller => {
        sent++
        controller.enqueue(Buffer.alloc(10_000, "a@b.example\n"))
      },
    })
    expect((await app.ask("POST /v1/jobs", { body: endless })).body["code"]).toBe("payload_too_large")
    expect(sent).toBeLessThan(150)
    expect(app.files()).toEqual([])
  })

  test("says nothing for too long", async () => {
    const app = await jobsApp()
    const silent = new ReadableStream({ start: controller => controller.enqueue(Buffer.from("a@b.example\n")) })
    const state = { isAnswered: false }
    const answer = app.ask("POST /v1/jobs", { body: silent }).finally(() => {
      state.isAnswered = true
    })
    // The disk takes its own time before the body is read.
    while (!state.isAnswered) {
      await Bun.sleep(0)
      await app.time.tick(JOB_LIMITS.uploadIdleSeconds * 1000)
    }
    expect((await answer).body["detail"]).toMatch(/did not arrive in time/)
    expect(app.files()).toEqual([])
  })

  test("is one too many at the same time", async () => {
    const app = await jobsApp()
    const ends: (() => void)[] = []
    const open = () =>
      app.ask("POST /v1/jobs", {
        body: new ReadableStream({ start: controller => void ends.push(() => controller.close()) }),
      })
    const answers = [open(), open()]
    while ((await app.store.all("SELECT id FROM jobs")).length < 2) await Bun.sleep(0)
    expect((await open()).body).toMatchObject({
      code: "too_many_jobs",
      detail: expect.stringContaining("uploads 2 lists"),
    })
    for (const end of ends) end()
    for (const answer of answers) expect((await answer).body["code"]).toBe("invalid_input")
    expect((await app.upload()).state).toBe("queued")
  })
})

test("a server that cannot reach the folder with the lists says that another one may, and still deletes", async () => {
  const app = await jobsApp()
  const { id } = await app.upload()
  await app.done()
  const [mark = ""] = readdirSync(app.jobsFolder).filter(name => name.startsWith("installation."))
  renameSync(`${app.jobsFolder}/${mark}`, `${app.jobsFolder}/installation.0123456789abcdef`)
  await app.jobs.sweep()
  for (const line of ["POST /v1/jobs", `GET /v1/jobs/${id}/results`]) {
    const { body } = await app.ask(line, line.startsWith("POST") ? { body: LIST, headers: CSV } : {})
    expect(body).toMatchObject({ code: "overloaded", retry_after: 60 })
  }
  expect((await app.ask(`GET /v1/jobs/${id}`)).body["state"]).toBe("done")
  expect((await app.ask(`DELETE /v1/jobs/${id}`)).status).toBe(204)
})

test("neither the log nor the store nor the files hold an address of a list", async () => {
  const app = await jobsApp()
  const { id } = await app.upload("id,email\n7,very.secret.person@gmail.com\n")
  await app.done()
  expect((await app.get(`/v1/jobs/${id}/results`)).text).toContain("very.secret.person")
  expect(JSON.stringify(app.logged)).not.toContain("secret.person")
  expect(JSON.stringify(await app.store.all("SELECT * FROM jobs"))).not.toContain("secret.person")
  for (const name of readdirSync(app.jobsFolder))
    expect(await Bun.file(`${app.jobsFolder}/${name}`).text()).not.toContain("secret")
})
