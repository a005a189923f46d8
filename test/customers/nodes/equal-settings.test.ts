import { expect, test } from "bun:test"
import { parseSettings, SETTINGS } from "../../../src/config/settings.ts"
import { differingNode, digestSettings, NODE_SETTINGS } from "../../../src/customers/nodes/equal-settings.ts"
import { diagnoseSettings } from "../../../src/doctor/settings.ts"

function settingsOf(given: Readonly<Record<string, string>>) {
  const read = parseSettings(given)
  if (read.kind !== "read") throw new Error(read.faults.join())
  return read.settings
}

const OWN = settingsOf({
  MAILKIND_SMTP_URL: "smtps://user:password@mail.example.com",
  MAILKIND_ADMINS: "a@b.com,c@d.com",
})

test("each setting but those that a node has for itself is told by its name when another node has another value, which is not told", () => {
  for (const name of Object.keys(SETTINGS)) {
    const settings = digestSettings({ ...OWN, [name]: "another value" })
    const isCompared = !NODE_SETTINGS.some(own => own === name)
    const found = differingNode(OWN, [{ id: "node_1", url: "http://10.0.0.11:8080", settings }])
    expect(found).toEqual(isCompared ? { where: "http://10.0.0.11:8080", names: [name] } : null)
    expect(settings).toMatch(/^(?:MAILKIND_[A-Z_]+=[0-9a-f]{4} ?)+$/)
    if (!isCompared) continue
    const told = diagnoseSettings(OWN, [{ id: "node_1", settings }], "")
    expect(told).toMatchObject({ verdict: "warning", seen: expect.stringContaining(`node node_1 have: ${name}.`) })
  }
  expect(NODE_SETTINGS.filter(name => !Object.hasOwn(SETTINGS, name))).toEqual([])
})

test("a password that differs is told as the setting that has it", () => {
  const settings = digestSettings(
    settingsOf({ MAILKIND_SMTP_URL: "smtps://user:other@mail.example.com", MAILKIND_ADMINS: "a@b.com,c@d.com" }),
  )
  expect(differingNode(OWN, [{ id: "node_1", settings }])).toEqual({ where: "node_1", names: ["MAILKIND_SMTP_URL"] })
})

test("the order of a list is no difference, nor what a node of another version does not tell", () => {
  const nodes = [
    { id: "node_1", settings: digestSettings({ ...OWN, MAILKIND_ADMINS: ["c@d.com", "a@b.com"] }) },
    { id: "node_2", settings: null },
    { id: "node_3", settings: "MAILKIND_LATER=0000" },
    { id: "node_4", settings: "" },
  ]
  expect(differingNode(OWN, nodes)).toBeNull()
  expect(diagnoseSettings(OWN, nodes, "").verdict).toBe("ok")
})
