import { expect, test } from "bun:test"
import { BUILD_TARGETS, executableName, parseTargets } from "../../../src/system/build-targets.ts"
import { ROOT } from "../../architecture/source-files.ts"
import { startProgram } from "../../support/program.ts"

test("targets are told apart by commas, `all` means each of them once, and any other name is told", () => {
  const all = parseTargets("all")
  expect(all.kind === "targets" && all.names).toEqual(Object.keys(BUILD_TARGETS) as never)
  expect(parseTargets("linux-x64, darwin-arm64,linux-x64")).toEqual({
    kind: "targets",
    names: ["linux-x64", "darwin-arm64"],
  })
  for (const name of ["", "vax", "toString", "linux-x64,"]) expect(parseTargets(name).kind).toBe("unknown")
  expect(executableName("1.2.3", "windows-x64")).toBe("mailkind-1.2.3-windows-x64.exe")
})

test("a build for a target that there is not builds nothing and tells the targets", async () => {
  for (const words of [["--target", "vax"], ["--target"], ["--vax"]]) {
    const { code, err } = await startProgram([process.execPath, "src/build.ts", ...words], ROOT, {
      PATH: process.env["PATH"],
    }).ended()
    expect([words, code]).toEqual([words, 2])
    for (const name of Object.keys(BUILD_TARGETS)) expect(err).toContain(name)
  }
})
