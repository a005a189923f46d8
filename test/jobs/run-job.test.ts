import { describe, expect, test } from "bun:test"
import { ListContext } from "../../src/check/lookup-context.ts"
import { ALL_PARTS, ANSWER_PARTS } from "../../src/check/verdict/evidence-need.ts"
import { JOB_LIMITS } from "../../src/contract/jobs.ts"
import { listJobs } from "../../src/customers/jobs/job-row.ts"
import { revokeKey } from "../../src/customers/keys/keys.ts"
import { SERVER_ACTOR } from "../../src/customers/store/change-log/actor.ts"
import type { Store } from "../../src/customers/store/core/store.ts"
import { check } from "../support/app.ts"
import { partsOf } from "../support/file-rows.ts"
import { jobDesk, readingOf, withFaults } from "./job-desk.ts"
import { setSuspension } from "./suspend.ts"

const DOMAINS = ["gmail.com", "mailinator.com", "mit.edu", "x.example", "privaterelay.appleid.com"]
const addresses = (count: number) => Array.from({ length: count }, (_, at) => `jane${at}@${DOMAINS[at % 5]}`)
const csvOf = (count: number) =>
  `id,email\n${addresses(count)
    .map((address, at) => `${at},${address}\n`)
    .join("")}`

/** How many units of the day are leased, and what the usage counts. */
async function chargedTo(store: Store) {
  const [units, used] = [
    await store.one<{ leased: number }>("SELECT COALESCE(SUM(leased), 0) AS leased FROM units"),
    await store.one<{ count: number }>("SELECT COALESCE(SUM(count), 0) AS count FROM usage WHERE measure = 'used'"),
  ]
  return { leased: units?.leased, used: used?.count }
}

test("the rows of a job share what was found, and no other job does", async () => {
  const desk = await jobDesk()
  const contexts: unknown[] = []
  const service = desk.process("one", {
    check: (request, context) => {
      contexts.push(context)
      return check(request, context)
    },
  })
  for (const _ of [1, 2]) {
    await desk.upload(csvOf(300), { format: "csv" })
    await desk.workOff(service)
  }
  expect(contexts).toHaveLength(600)
  expect([...new Set(contexts)].map(context => context instanceof ListContext)).toEqual([true, true])
  expect(contexts[0]).toBe(contexts[299])
})

test("a row that finds the turn of its job over waits for another turn, and else a few rows share one", async () => {
  const desk = await jobDesk()
  const turnsOf = async (isTurnOver: boolean): Promise<number> => {
    let turns = 0
    const service = desk.process("one", {
      isTurnOver: () => isTurnOver,
      waitForTurn: async () => void turns++,
    })
    await desk.upload(csvOf(160), { format: "csv" })
    await desk.workOff(service)
    return turns
  }
  const [shared, single] = [await turnsOf(false), await turnsOf(true)]
  expect(single - shared).toBe(160 - 160 / 16)
})

describe("the results of a job", () => {
  test("are the columns of a table and those of the verdict, in order", async () => {
    const desk = await jobDesk()
    const service = desk.process("one")
    const { id, rowsTotal, state } = await desk.upload("id,email\n1,jane@gmail.com\n2,nothing\n", {
      format: "csv",
    })
    expect([rowsTotal, state]).toEqual([2, "queued"])
    await desk.workOff(service)
    expect(await desk.results(id)).toBe(
      "id,email,category,confidence,recommendation,is_business,did_you_mean,reasons,degraded,input_cleaned,input_checked,input_several,input_skipped\n" +
        "1,jane@gmail.com,personal,0.792,review,false,,free_provider dns_unavailable,true,false,,,false\n" +
        "2,nothing,invalid,1,block,false,,public_suffix,false,false,,,false\n",
    )
    expect(await desk.jobOf(id)).toMatchObject({
      state: "done",
      rowsDone: 2,
      counts: { byCategory: { personal: 1, invalid: 1 }, byRecommendation: { review: 1, block: 1 }, unreadable: 0 },
    })
  })

  test("of a text are a table, and those of NDJSON are lines with the members of the input", async () => {
    const desk = await jobDesk()
    const service = desk.process("one")
    const text = await desk.upload("jane@gmail.com\n\n")
    const lines = await desk.upload('{"email":"jane@gmail.com","id":7}\n{"broken\n', { format: "ndjson" })
    await desk.workOff(service)
    expect((await desk.results(text.id)).split("\n").map(line => line.split(",", 2).join())).toEqual([
      "input,category",
      "jane@gmail.com,personal",
      ",",
      "",
    ])
    const [first = "", second = ""] = (await desk.results(lines.id)).split("\n")
    expect(JSON.parse(first)).toMatchObject({ id: 7, category: "personal", request_id: "line_1", took_ms: 0 })
    expect(JSON.parse(second)).toMatchObject({ category: "invalid", line_error: "not_json", request_id: "line_2" })
    expect((await desk.jobOf(lines.id)).counts.unreadable).toBe(1)
  })

  test("have the mailbox behind addresses, and the first row with the same one, if that was asked", async () => {
    const desk = await jobDesk()
    const list = "email\nJane+x@Gmail.com\nn/a\n<jane@gmail.com>\n"
    const options = { format: "csv", tellsCanonical: true, tellsDuplicates: true } as const
    const { id } = await desk.upload(list, options)
    await desk.workOff(desk.process("one"))
    const rows = (await desk.results(id)).split("\n").map(line => line.split(",").slice(-2).join())
    expect(rows).toEqual(["canonical_email,duplicate_of", "jane@gmail.com,", ",", "jane@gmail.com,1", ""])
    expect((await desk.jobOf(id)).counts).toMatchObject({
      ...{ duplicates: 1, skipped: 1, cleaned: 1 },
      problems: { free_provider: { rows: 2, first: 1 } },
    })
  })

  test("ask for what they show: the verdict and the tenant, the mailbox too, what the columns hold, or all", async () => {
    const desk = await jobDesk()
    const asked: (number | undefined)[] = []
    const service = desk.process("one", {
      check: request => {
        asked.push(request.parts)
        return check(request)
      },
    })
    const { tenant, mailbox, mail } = ANSWER_PARTS
    const lists = [
      [{}, tenant],
      [{ tellsCanonical: true }, tenant | mailbox],
      [{ tellsDuplicates: true }, tenant | mailbox],
      [{ columns: ["category", "reasons"] }, 0],
      [{ columns: ["category", "dmarc_policy"] }, mail],
      [{ format: "ndjson" }, ALL_PARTS],
    ] as const
    for (const [options] of lists) {
      const format = "format" in options ? options.format : "csv"
      await desk.upload(format === "csv" ? "email\njane@acme.com\n" : '"jane@acme.com"\n', { format, ...options })
      await desk.workOff(service)
    }
    expect(asked).toEqual(lists.map(([, parts]) => parts))
  })

  test("do not depend on what a process has seen before", async () => {
    const desk = await jobDesk()
    const list = '{"email":"jane@gmail.com","note":{"cached":true,"took_ms":0}}\n'.repeat(3)
    const { id } = await desk.upload(list, { format: "ndjson" })
    await desk.workOff(
      desk.process("one", {
        check: async request => {
          const outcome = await check(request)
          const { domain, policy, evidence, verdict } = outcome.judged
          const judged = { domain, policy, evidence: { ...evidence, isCached: true }, verdict, shared: null }
          return { ...outcome, judged }
        },
      }),
    )
    const lines = (await desk.results(id))
      .trimEnd()
      .split("\n")
      .map(line => JSON.parse(line))
    expect(lines.map(({ cached, note }) => [cached, note])).toEqual(
      Array(3).fill([false, { cached: true, took_ms: 0 }]),
    )
  })

  test("can be read from any byte to any other, all of them or those with some recommendations", async () => {
    const desk = await jobDesk()
    const service = desk.process("one")
    const { id } = await desk.upload(csvOf(2500), { format: "csv" })
    await desk.workOff(service)
    const whole = await desk.results(id)
    const [header = "", ...rows] = whole.trimEnd().split("\n")
    expect(rows).toHaveLength(2500)
    for (const only of [null, new Set(["block", "allow"] as const), new Set(["review"] as const)]) {
      const wanted = rows.filter(row => only === null || [...only].some(one => row.split(",").includes(one)))
      const text = [header, ...wanted, ""].join("\n")
      expect(await desk.results(id, only)).toBe(text)
      expect(await desk.lengthOf(id, only)).toBe(text.length)
      for (const [from, to] of [
        [0, 1],
        [5, 70],
        [header.length, 60_000],
        [text.length - 1, text.length],
        [60_000, 60_001],
      ] as const)
        expect(await desk.results(id, only, from, to)).toBe(text.slice(from, to))
    }
  })
})

describe("units", () => {
  test("are one a row, and the job stops at the very row for which none is left, and goes on the next day", async () => {
    const desk = await jobDesk(1234)
    const service = desk.process("one")
    const undisturbed = await desk.upload(csvOf(2500), { format: "csv" })
    desk.state.perDay = null
    await desk.workOff(service)
    const { id } = await desk.upload(csvOf(2500), { format: "csv" })
    desk.state.perDay = 1234
    await desk.workOff(service)
    expect(await desk.jobOf(id)).toMatchObject({
      state: "stopped",
      reason: "units_used_up",
      rowsDone: 1234,
      unitsUsed: 1234,
    })
    expect((await desk.results(id)).split("\n")).toHaveLength(1234 + 2)
    await desk.workOff(service)
    expect((await desk.jobOf(id)).state).toBe("stopped")
    desk.state.day++
    await desk.workOff(service)
    expect(await desk.jobOf(id)).toMatchObject({ state: "stopped", rowsDone: 2468 })
    desk.state.day++
    await desk.workOff(service)
    expect(await desk.jobOf(id)).toMatchObject({ state: "done", rowsDone: 2500, unitsUsed: 2500, reason: null })
    expect(await desk.results(id)).toBe(await desk.results(undisturbed.id))
  })

  test("that a higher tier brings let a stopped job go on at once", async () => {
    const desk = await jobDesk(3)
    const service = desk.process("one")
    const { id } = await desk.upload(csvOf(10), { format: "csv" })
    await desk.workOff(service)
    desk.state.perDay = 100
    await desk.workOff(service)
    expect(await desk.jobOf(id)).toMatchObject({ state: "done", unitsUsed: 10 })
    expect(await chargedTo(desk.store)).toEqual({ leased: 10, used: 10 })
  })

  test("are those of the key too, if it has a limit of its own", async () => {
    const desk = await jobDesk(100)
    await desk.store.run("UPDATE keys SET units_per_day = 4 WHERE id = $1", [desk.keyId])
    const service = desk.process("one")
    const { id } = await desk.upload(csvOf(10), { format: "csv" })
    await desk.workOff(service)
    expect(await desk.jobOf(id)).toMatchObject({ state: "stopped", rowsDone: 4 })
    expect(await chargedTo(desk.store)).toEqual({ leased: 8, used: 4 })
  })

  test("that others take while rows are checked are not used twice", async () => {
    const desk = await jobDesk(100)
    const { id } = await desk.upload(csvOf(80), { format: "csv" })
    let turns = 0
    const service = desk.process("one", {
      waitForTurn: async () => {
        if (++turns !== 3) return
        await desk.store.run("INSERT INTO units (subject, day, leased) VALUES ($1, $2, 60)", [
          desk.accountId,
          desk.state.day,
        ])
      },
    })
    await desk.workOff(service)
    expect(await desk.jobOf(id)).toMatchObject({ state: "stopped", reason: "units_used_up", rowsDone: 40 })
    expect(await chargedTo(desk.store)).toEqual({ leased: 100, used: 40 })
    desk.state.day++
    await desk.workOff(desk.process("two"))
    expect(await desk.jobOf(id)).toMatchObject({ state: "done", rowsDone: 80, unitsUsed: 80 })
    const undisturbed = await desk.upload(csvOf(80), { format: "csv" })
    desk.state.perDay = null
    await desk.workOff(service)
    expect(await desk.results(id)).toBe(await desk.results(undisturbed.id))
  })

  test("are not taken for test addresses", async () => {
    const desk = await jobDesk(1)
    const service = desk.process("one")
    const { id } = await desk.upload("business@mailkind.test\na@gmail.com\npersonal@mailkind.test\n")
    await desk.workOff(service)
    expect(await desk.jobOf(id)).toMatchObject({ state: "done", rowsDone: 3, unitsUsed: 1 })
  })
})

test("the results of a block are written and on the disk before it is charged", async () => {
  const desk = await jobDesk(1_000_000)
  const steps: string[] = []
  const store: Store = {
    ...desk.store,
    transaction: work =>
      desk.store.transaction(inner =>
        work({
          ...inner,
          run: async (sql, params) => {
            if (sql.includes("rows_done = ")) steps.push("charge")
            return await inner.run(sql, params)
          },
        }),
      ),
  }
  const { id } = await desk.upload(csvOf(2500), { format: "csv" })
  await desk.workOff(desk.process("one", { store, files: withFaults(desk.files, kind => void steps.push(kind)) }))
  expect(await desk.jobOf(id)).toMatchObject({ state: "done", rowsDone: 2500 })
  const text = steps.join(" ")
  expect(text).toMatch(/^(?:(?:write )+sync charge ?){3}$/)
})

/** Stops the process at its nth write, sync or transaction: nothing that it does after that has an effect. */
function dyingAt(desk: Awaited<ReturnType<typeof jobDesk>>, holder: string, steps: number) {
  let left = steps
  const step = (): void => {
    if (left-- <= 0) throw new Error("killed")
  }
  const store: Store = {
    ...desk.store,
    run: async (...args) => {
      if (left < 0) throw new Error("killed")
      return await desk.store.run(...args)
    },
    transaction: async work => {
      step()
      const result = await desk.store.transaction(work)
      step()
      return result
    },
  }
  return desk.process(holder, { store, files: withFaults(desk.files, step), commitBounds: FEW_ROWS })
}

/** So small blocks that a list of some hundred rows has several. */
const FEW_ROWS = { rows: 100, ms: 100_000 }

test("a job whose process is killed at any step goes on in another one: the results are the same, and each row is charged once", async () => {
  const desk = await jobDesk(1_000_000)
  // Long rows make several blocks, and of some inputs the first row is in an earlier one.
  const list = csvOf(330)
    .replaceAll(/jane(\d)\d*@/g, "jane$1@")
    .replaceAll("\n", `,${"x".repeat(600)}\n`)
  const options = { format: "csv", tellsCanonical: true, tellsDuplicates: true } as const
  const first = await desk.upload(list, options)
  await desk.workOff(desk.process("live", { commitBounds: FEW_ROWS }))
  const expected = await desk.results(first.id)
  const { counts } = await desk.jobOf(first.id)
  expect(counts.duplicates).toBeGreaterThan(200)
  for (let steps = 0; steps < 24; steps++) {
    const { id } = await desk.upload(list, options)
    const before = await chargedTo(desk.store)
    const dying = dyingAt(desk, `dead ${steps}`, steps)
    await dying.look()
    await dying.idle()
    await desk.workOff(desk.process("live", { commitBounds: FEW_ROWS }))
    const job = await desk.jobOf(id)
    const after = await chargedTo(desk.store)
    expect({ steps, state: job.state, rows: job.rowsDone }).toEqual({ steps, state: "done", rows: 330 })
    expect((await desk.results(id)) === expected).toBe(true)
    expect(job.counts).toEqual(counts)
    expect([Number(after.leased) - Number(before.leased), Number(after.used) - Number(before.used)]).toEqual([330, 330])
    await desk.process("live", { commitBounds: FEW_ROWS }).delete(desk.accountId, id, SERVER_ACTOR)
    await desk.process("live", { commitBounds: FEW_ROWS }).sweep()
  }
  expect(await listJobs(desk.store, desk.accountId)).toHaveLength(1)
})

test("a process that was only slow and works on beside the one that has taken its job over does no harm", async () => {
  const desk = await jobDesk(1_000_000)
  const list = csvOf(3300)
  const undisturbed = await desk.upload(list, { format: "csv" })
  await desk.workOff(desk.process("a"))
  const { id } = await desk.upload(list, { format: "csv" })
  const gate = Promise.withResolvers<void>()
  let turns = 0
  const slow = desk.process("dead slow", {
    waitForTurn: async () => (++turns === 100 ? await gate.promise : undefined),
  })
  await slow.look()
  while (turns < 100) await Bun.sleep(0)
  await desk.workOff(desk.process("quick"))
  gate.resolve()
  await slow.idle()
  expect(await desk.jobOf(id)).toMatchObject({ state: "done", rowsDone: 3300, lease: 2 })
  expect((await desk.results(id)) === (await desk.results(undisturbed.id))).toBe(true)
  expect(await chargedTo(desk.store)).toEqual({ leased: 6600, used: 6600 })
})

test("a process that was only slow records and charges nothing of a job that another one is checking", async () => {
  const desk = await jobDesk(1_000_000)
  const { id } = await desk.upload(csvOf(3300), { format: "csv" })
  const gate = Promise.withResolvers<void>()
  let [slowTurns, quickTurns] = [0, 0]
  const slow = desk.process("dead slow", {
    waitForTurn: async () => (++slowTurns === 100 ? await gate.promise : undefined),
  })
  await slow.look()
  while (slowTurns < 100) await Bun.sleep(0)
  const quick = desk.process("quick", {
    waitForTurn: async () => {
      if (++quickTurns !== 50) return
      gate.resolve()
      await slow.idle()
    },
  })
  await desk.workOff(quick)
  expect(await desk.jobOf(id)).toMatchObject({ state: "done", rowsDone: 3300, lease: 2 })
  expect(await chargedTo(desk.store)).toEqual({ leased: 3300, used: 3300 })
})

test("a stop gives the job back, and it goes on where it stood", async () => {
  const desk = await jobDesk()
  const { id } = await desk.upload(csvOf(3300), { format: "csv" })
  let turns = 0
  const stopping: { service?: Promise<void> } = {}
  const service = desk.process("a", {
    waitForTurn: async () => {
      if (++turns === 120) stopping.service = service.stop()
    },
  })
  await service.look()
  await service.idle()
  await stopping.service
  const { state, rowsDone } = await desk.jobOf(id)
  expect([state, rowsDone > 0 && rowsDone < 3300]).toEqual(["queued", true])
  await desk.workOff(desk.process("b"))
  expect(await desk.jobOf(id)).toMatchObject({ state: "done", rowsDone: 3300 })
})

describe("a job does not go on", () => {
  test("while its account is suspended, and does after that", async () => {
    const desk = await jobDesk()
    const service = desk.process("one", {
      waitForTurn: async () => await setSuspension(desk.store, desk.accountId, 1),
    })
    const { id } = await desk.upload(csvOf(2500), { format: "csv" })
    await desk.workOff(service)
    expect(await desk.jobOf(id)).toMatchObject({ state: "stopped", reason: "account_suspended" })
    await setSuspension(desk.store, desk.accountId, null)
    await desk.workOff(desk.process("two"))
    expect(await desk.jobOf(id)).toMatchObject({ state: "done", reason: null })
  })

  test("while lists and results of its account take as much space as they may, and does when there is room", async () => {
    const desk = await jobDesk()
    const service = desk.process("one", { commitBounds: { rows: 100_000, ms: 100_000 } })
    const other = await desk.upload("a@gmail.com\n")
    await desk.workOff(service)
    const { id, inputBytes } = await desk.upload(`sep=,\nemail${",c".repeat(900)}\n${"a@gmail.com\n".repeat(3000)}`, {
      format: "csv",
    })
    const room = 500_000
    await desk.store.run("UPDATE jobs SET input_bytes = $2, result_bytes = 0 WHERE id = $1", [
      other.id,
      JOB_LIMITS.bytesPerAccountMax - inputBytes - room,
    ])
    await desk.workOff(service)
    const { rowsDone, resultBytes, ...stopped } = await desk.jobOf(id)
    expect(stopped).toMatchObject({ state: "stopped", reason: "space_used_up" })
    expect(resultBytes).toBeGreaterThan(room / 2)
    // A block is written to its end.
    expect(resultBytes).toBeLessThan(room + 2_000_000)
    expect((await desk.results(id)).split("\n")).toHaveLength(rowsDone + 3)
    await desk.workOff(service)
    expect(await desk.jobOf(id)).toMatchObject({ state: "stopped", rowsDone })
    await service.delete(desk.accountId, other.id, SERVER_ACTOR)
    await desk.workOff(service)
    expect(await desk.jobOf(id)).toMatchObject({ state: "done", rowsDone: 3000, reason: null })
  })

  test("when the key that uploaded it was revoked", async () => {
    const desk = await jobDesk()
    const service = desk.process("one")
    const { id } = await desk.upload(csvOf(10), { format: "csv" })
    await revokeKey(desk.log, desk.keyId, "owner")
    await desk.workOff(service)
    expect(await desk.jobOf(id)).toMatchObject({ state: "failed", reason: "key_revoked", rowsDone: 0 })
  })

  test("when the key that uploaded it has expired meanwhile", async () => {
    const desk = await jobDesk()
    const service = desk.process("one")
    const { id } = await desk.upload(csvOf(10), { format: "csv" })
    await desk.store.run("UPDATE keys SET expires_at_ms = $2 WHERE id = $1", [desk.keyId, desk.state.now])
    await desk.workOff(service)
    expect(await desk.jobOf(id)).toMatchObject({ state: "failed", reason: "key_revoked", rowsDone: 0 })
  })

  test("when its list is gone or damaged", async () => {
    const desk = await jobDesk()
    const service = desk.process("one")
    const { id } = await desk.upload(csvOf(10), { format: "csv" })
    await desk.files.remove(`${id}.list`)
    await desk.workOff(service)
    expect(await desk.jobOf(id)).toMatchObject({ state: "failed", reason: "files_lost" })
  })
})

describe("nothing is left behind", () => {
  test("of an upload that is cut short at any tenth, by its sender or by a full disk", async () => {
    const desk = await jobDesk()
    const list = csvOf(4000)
    async function* cutAfter(bytes: number): AsyncGenerator<Uint8Array> {
      yield* partsOf(list.slice(0, bytes), 5000)
      throw new Error("cut")
    }
    const options = {
      name: null,
      format: "csv",
      column: null,
      hasHeader: true,
      policy: "b2b",
      includesTenant: true,
      ...{ tellsCanonical: false, tellsDuplicates: false, columns: null },
      callbackUrl: null,
    } as const
    for (let tenth = 0; tenth < 10; tenth++) {
      const cut = cutAfter(Math.floor((list.length * tenth) / 10))
      const job = { accountId: desk.accountId, keyId: desk.keyId, options, actor: SERVER_ACTOR }
      const asked = { ...job, reading: readingOf(options) }
      const failure = await desk
        .process("one")
        .receive(asked, cut, 1_000_000)
        .catch((error: unknown) => error)
      expect(String(failure)).toContain("cut")
      let writes = 0
      const files = withFaults(desk.files, () => {
        if (writes++ >= tenth % 5) throw Object.assign(new Error("full"), { code: "ENOSPC" })
      })
      const full = await desk
        .process("one", { files })
        .receive(asked, partsOf(list), 1_000_000)
        .catch((error: unknown) => error)
      expect(String(full)).toContain("full")
      expect([desk.left(), await desk.store.all("SELECT id FROM jobs")]).toEqual([[], []])
    }
  })

  test("of an upload whose process was killed, as soon as another one looks", async () => {
    const desk = await jobDesk()
    const { id } = await desk.upload(csvOf(10), { format: "csv" })
    await desk.store.run("UPDATE jobs SET state = 'receiving', holder = 'dead'")
    expect(desk.left()).toEqual([`${id}.list`])
    const service = desk.process("one")
    await service.look()
    await service.stop()
    expect([desk.left(), await desk.store.all("SELECT id FROM jobs")]).toEqual([[], []])
  })

  test("of a deleted job, also one that is being checked, of an expired one, and of an account", async () => {
    const desk = await jobDesk()
    const service = desk.process("one")
    const { id } = await desk.upload(csvOf(2500), { format: "csv" })
    const deleting = desk.process("one", {
      waitForTurn: async () => void (await service.delete(desk.accountId, id, SERVER_ACTOR)),
    })
    await desk.workOff(deleting)
    const expired = await desk.upload(csvOf(10), { format: "csv" })
    await desk.workOff(service)
    expect(desk.left().filter(name => name.startsWith(expired.id))).toHaveLength(2)
    desk.state.now += 48 * 3_600_000
    await service.sweep()
    expect([desk.left(), await desk.store.all("SELECT id FROM jobs")]).toEqual([[], []])
    await desk.upload(csvOf(10), { format: "csv" })
    await desk.store.run("DELETE FROM accounts WHERE id = $1", [desk.accountId])
    await service.sweep()
    expect(desk.left()).toEqual([])
  })
})

test("a disk that is full while results are written interrupts the job, which goes on when there is room", async () => {
  const desk = await jobDesk(1_000_000)
  const { id } = await desk.upload(csvOf(2500), { format: "csv" })
  let writes = 0
  const files = withFaults(desk.files, kind => {
    if (kind === "write" && ++writes === 2) throw Object.assign(new Error("full"), { code: "ENOSPC" })
  })
  const service = desk.process("one", { files })
  await desk.workOff(service)
  expect(desk.state.errors).toHaveLength(1)
  expect((await desk.jobOf(id)).state).toBe("queued")
  desk.state.now += 10_000
  await desk.workOff(service)
  expect(await desk.jobOf(id)).toMatchObject({ state: "done", rowsDone: 2500 })
  expect(await chargedTo(desk.store)).toEqual({ leased: 2500, used: 2500 })
})
