import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parseSettings } from "../../../src/config/settings.ts"
import { differingNode, digestSettings, EQUAL_SETTINGS } from "../../../src/customers/nodes/equal-settings.ts"
import { diagnoseSettings } from "../../../src/doctor/settings.ts"
import { ROOT } from "../../architecture/source-files.ts"

function settingsOf(given: Readonly<Record<string, string>>) {
  const read = parseSettings(given)
  if (read.kind !== "read") throw new Error(read.faults.join())
  return read.settings
}

const GIVEN = {
  MAILKIND_BASE_URL: "https://mail.example.com",
  MAILKIND_TIERS: "1=10/5/1000",
  MAILKIND_DEFAULT_TIER: "1",
  MAILKIND_FREE_CHECKS_PER_DAY: "7",
  MAILKIND_SMTP_URL: "smtps://user:password@mail.example.com",
  MAILKIND_MAIL_FROM: "mailkind@example.com",
  MAILKIND_ADMINS: "one@example.com,two@example.com",
  MAILKIND_TEST_DOMAIN: "test.example.com",
  MAILKIND_LISTS_SOURCES: "disposable=https://lists.example.com/a",
  MAILKIND_TRUSTED_PROXIES: "10.0.0.1,10.0.0.2",
}

test("each setting that nodes must have the same is told by its name when another node has another value, which is not told", () => {
  const own = settingsOf(GIVEN)
  for (const name of EQUAL_SETTINGS) {
    const { [name]: _, ...others } = GIVEN
    const settings = digestSettings(settingsOf(others))
    const found = differingNode(own, [{ id: "node_1", url: "http://10.0.0.11:8080", settings }])
    expect(found).toEqual({ where: "http://10.0.0.11:8080", names: [name] })
    expect(settings).toMatch(/^(?:MAILKIND_[A-Z_]+=[0-9a-f]{4} ?){10}$/)
    const told = diagnoseSettings(own, [{ id: "node_1", settings }], "")
    expect(told).toMatchObject({ verdict: "warning", seen: expect.stringContaining(`node node_1 have: ${name}.`) })
  }
})

test("the order of a list is no difference, nor what a node of another version does not tell", () => {
  const own = settingsOf(GIVEN)
  const turned = { ...GIVEN, MAILKIND_ADMINS: "two@example.com,one@example.com" }
  const nodes = [
    { id: "node_1", settings: digestSettings(settingsOf(turned)) },
    { id: "node_2", settings: null },
    { id: "node_3", settings: "MAILKIND_LATER=0000" },
    { id: "node_4", settings: "" },
  ]
  expect(differingNode(own, nodes)).toBeNull()
  expect(diagnoseSettings(own, nodes, "").verdict).toBe("ok")
})

test("the guide names every setting that nodes must have the same", () => {
  const page = readFileSync(join(ROOT, "src/http/site/docs/pages/scaling.md"), "utf8")
  const [, part = ""] = /\{#same-settings\}(.*?)\n##/s.exec(page) ?? []
  expect(EQUAL_SETTINGS.filter(name => !part.includes(`\`${name}\``))).toEqual([])
})
