import { describe, expect, test } from "bun:test"
import type { TextFile } from "../../src/base/text-file.ts"
import { readSettings } from "../../src/config/setting-sources.ts"

type World = {
  readonly environment?: Readonly<Record<string, string>>
  readonly flags?: ReadonlyMap<string, string>
  readonly files?: Readonly<Record<string, string | TextFile>>
}

/** What is read of these sources. A configuration file is at /etc/mailkind.toml, if there is one. */
function read({ environment = {}, flags = new Map(), files = {} }: World) {
  const config = files[CONFIG] === undefined ? {} : { MAILKIND_CONFIG: CONFIG }
  return readSettings({
    environment: { ...config, ...environment },
    flags,
    readFile: path => {
      const file = files[path]
      if (file === undefined) return { kind: "unreadable", why: "there is no such file" }
      return typeof file === "string" ? { kind: "read", text: file, isReadableByAll: false } : file
    },
  })
}

const CONFIG = "/etc/mailkind.toml"
const settings = (world: World) => {
  const reading = read(world)
  if (reading.kind === "faulty") throw new Error(reading.faults.join("\n"))
  return reading.settings
}
const faults = (world: World): readonly string[] => {
  const reading = read(world)
  return reading.kind === "faulty" ? reading.faults : []
}
const toml = (text: string): World => ({ files: { [CONFIG]: text } })

describe("a configuration file", () => {
  test("has the names of the settings in lower case, with or without the prefix", () => {
    expect(settings(toml('port = 9000\nmailkind_host = "0.0.0.0"\n'))).toMatchObject({
      MAILKIND_PORT: 9000,
      MAILKIND_HOST: "0.0.0.0",
    })
  })

  test("has text, numbers, true and false, lists, and tables of names", () => {
    const text = `
      request_log = false
      admins = ["a@example.com", "b@example.com"]
      dns_servers = "192.0.2.1, 192.0.2.2"
      [lists_sources]
      mine = "https://example.com/list"
      own = "file:///etc/mailkind/own"
    `
    expect(settings(toml(text))).toMatchObject({
      MAILKIND_REQUEST_LOG: "off",
      MAILKIND_ADMINS: ["a@example.com", "b@example.com"],
      MAILKIND_DNS_SERVERS: ["192.0.2.1", "192.0.2.2"],
      MAILKIND_LISTS_SOURCES: new Map([
        ["mine", "https://example.com/list"],
        ["own", "file:///etc/mailkind/own"],
      ]),
    })
  })

  test("yields to the environment, where what is empty is not set", () => {
    const files = { [CONFIG]: 'port = 9000\nlog = "warn"\n' }
    expect(settings({ files, environment: { MAILKIND_PORT: "1", MAILKIND_LOG: "" } })).toMatchObject({
      MAILKIND_PORT: 1,
      MAILKIND_LOG: "warn",
    })
  })

  test("that is not there, or not TOML, is a fault, which repeats nothing of it", () => {
    expect(faults({ environment: { MAILKIND_CONFIG: "/none" } })).toEqual([
      "The configuration file cannot be read: there is no such file (/none)",
    ])
    expect(faults(toml('port = 9000\nsmtp_url = "smtp://user:hunter2'))).toEqual([
      `The configuration file is not TOML: unfinished string (line 2 of ${CONFIG})`,
    ])
    expect(faults(toml('smtp_url = "smtp://user:hunter2\nport = 9000'))).toEqual([
      `The configuration file is not TOML: a quote is not closed, or control characters are not allowed in strings (line 1 of ${CONFIG})`,
    ])
  })

  test("has so many unknown names told, and the number of the others", () => {
    const told = faults(toml(Array.from({ length: 5000 }, (_, at) => `prot${at} = 1\n`).join("")))
    expect(told).toHaveLength(21)
    expect(told[20]).toBe(`4980 more names are no settings (${CONFIG})`)
  })

  test("has its faults told at once, each with its line and the nearest name", () => {
    const text =
      'prot = 1\n"host" = 5.5\nadmins = [["a"]]\nlog = 2020-01-01\nDATA_DIR = "x"\nconfig = "y"\ndns.servers = "off"'
    expect(faults(toml(text))).toEqual([
      `admins must be text, a number, true, false, or a list or table of these (line 3 of ${CONFIG})`,
      `log must be text, a number, true, false, or a list or table of these (line 4 of ${CONFIG})`,
      `config cannot stand in a configuration file (line 6 of ${CONFIG})`,
      `prot is not a setting (did you mean port?). \`mailkind help settings\` lists them (line 1 of ${CONFIG})`,
      `DATA_DIR is not a setting (did you mean data_dir?). \`mailkind help settings\` lists them (line 5 of ${CONFIG})`,
      `dns is not a setting. \`mailkind help settings\` lists them (line 7 of ${CONFIG})`,
    ])
    expect(faults(toml("port = 70000"))).toEqual([
      `MAILKIND_PORT must be a whole number from 0 to 65535 (line 1 of ${CONFIG})`,
    ])
  })

  test("a member of a list with a comma would be two, and is a fault", () => {
    expect(faults(toml('admins = ["a@example.com,b@example.com"]'))).toHaveLength(1)
  })

  test("with a secret is refused if every user can read it, and one without is not", () => {
    const open = (text: string): World => ({ files: { [CONFIG]: { kind: "read", text, isReadableByAll: true } } })
    expect(faults(open("port = 1"))).toEqual([])
    const [fault = ""] = faults(open('port = 1\nsmtp_url = "smtp://user:hunter2@example.com"'))
    expect(fault).toContain(`Every user of this host can read ${CONFIG}, and it has a secret (line 2 of ${CONFIG}).`)
    expect(fault).not.toContain("hunter2")
  })

  test("names of JavaScript's objects are no settings", () => {
    for (const name of ["__proto__", "constructor", "toString"]) expect(faults(toml(`${name} = 1`))).toHaveLength(1)
  })
})

describe("a secret in a file of its own", () => {
  const secret = "smtp://user:hunter2@example.com"

  test("is read, in the environment as in the configuration file, without its last line break", () => {
    const files = { "/run/smtp": `${secret}\n` }
    const environment = { MAILKIND_SMTP_URL_FILE: "/run/smtp" }
    expect(settings({ environment, files }).MAILKIND_SMTP_URL?.reveal()).toBe(secret)
    const inFile = { ...files, [CONFIG]: 'smtp_url_file = "/run/smtp"' }
    expect(settings({ files: inFile }).MAILKIND_SMTP_URL?.reveal()).toBe(secret)
  })

  test("of the environment wins over the configuration file", () => {
    const files = { "/run/smtp": secret, [CONFIG]: 'smtp_url = "smtp://example.org"' }
    expect(settings({ environment: { MAILKIND_SMTP_URL_FILE: "/run/smtp" }, files }).MAILKIND_SMTP_URL?.reveal()).toBe(
      secret,
    )
  })

  test("is a fault if it is missing, empty or wrong, or beside the setting itself", () => {
    const environment = { MAILKIND_SMTP_URL_FILE: "/run/smtp" }
    expect(faults({ environment })).toEqual([
      "The file of MAILKIND_SMTP_URL_FILE cannot be read: there is no such file (/run/smtp)",
    ])
    expect(faults({ environment, files: { "/run/smtp": "\n" } })).toEqual([
      "The file of MAILKIND_SMTP_URL_FILE is empty (/run/smtp)",
    ])
    const [wrong = ""] = faults({ environment, files: { "/run/smtp": "hunter2" } })
    expect(wrong).toStartWith("MAILKIND_SMTP_URL must be")
    expect(wrong).toEndWith("(/run/smtp)")
    expect(
      faults({ environment: { ...environment, MAILKIND_SMTP_URL: secret }, files: { "/run/smtp": secret } }),
    ).toEqual(["MAILKIND_SMTP_URL and MAILKIND_SMTP_URL_FILE set the same. Remove one of them"])
  })

  test("is only for secrets", () => {
    expect(faults({ environment: { MAILKIND_PORT_FILE: "/run/port" } })[0]).toStartWith(
      "MAILKIND_PORT_FILE is not a setting",
    )
  })
})

test("a fault names the flag that it comes from", () => {
  const flags = new Map([["MAILKIND_PORT", "--port"]])
  expect(faults({ environment: { MAILKIND_PORT: "x" }, flags })).toEqual([
    "MAILKIND_PORT must be a whole number from 0 to 65535 (--port)",
  ])
})

test.each([
  ["MAILKIND_PROT", "MAILKIND_PORT"],
  ["MAILKIND_DATADIR", "MAILKIND_DATA_DIR"],
  ["MAILKIND_ADMIN", "MAILKIND_ADMINS"],
  ["MAILKIND_SMTP_UR", "MAILKIND_SMTP_URL"],
])("%s may mean %s", (name, meant) => {
  expect(faults({ environment: { [name]: "x" } })[0]).toContain(`(did you mean ${meant}?)`)
})

test("a name that is far from all is not taken for any", () => {
  expect(faults({ environment: { MAILKIND_COLOUR_OF_THE_SKY: "x" } })[0]).not.toContain("did you mean")
})
