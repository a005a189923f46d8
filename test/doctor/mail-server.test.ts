import { expect, test } from "bun:test"
import { diagnoseMailServer } from "../../src/doctor/network.ts"

test("a mail server that may be another one is warned of, however it was reached", () => {
  for (const isEncrypted of [true, false]) {
    const reached = { kind: "well", where: "mx.example.com:587", isEncrypted, isLoggedIn: false } as const
    expect(diagnoseMailServer(reached, true).verdict).toBe("ok")
    expect(diagnoseMailServer(reached, false)).toMatchObject({
      verdict: "warning",
      remedy: expect.stringContaining("?tls=required"),
    })
  }
})
