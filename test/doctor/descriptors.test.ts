import { expect, test } from "bun:test"
import { diagnoseDescriptors } from "../../src/doctor/descriptors.ts"

const SETTINGS = { inFlightMax: 4096, databaseConnections: 5 }

test("a limit of descriptors below what the settings need is a warning that tells both numbers", () => {
  expect(diagnoseDescriptors(4357, SETTINGS).verdict).toBe("ok")
  expect(diagnoseDescriptors(4356, SETTINGS)).toMatchObject({
    verdict: "warning",
    seen: expect.stringMatching(/may open 4356 .* need 4357: 4096 /),
    remedy: expect.stringContaining("LimitNOFILE"),
  })
  expect(diagnoseDescriptors(0, SETTINGS).verdict).toBe("skipped")
})
