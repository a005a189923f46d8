import { join } from "node:path"
import { CLIENT_PACKAGE, clientManifest } from "../../src/client/packing/package-files.ts"
import { pythonClient } from "../../src/http/site/docs/python-client.ts"

/** The files of a project that has the JavaScript client installed, by path. */
export async function javascriptClientFiles(): Promise<Readonly<Record<string, string>>> {
  const folder = `node_modules/${CLIENT_PACKAGE}`
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, "../../src/client/mailkind-client.ts")],
    target: "browser",
  })
  return {
    [`${folder}/package.json`]: JSON.stringify(clientManifest()),
    [`${folder}/${CLIENT_PACKAGE}.js`]: (await built.outputs[0]?.text()) ?? "",
  }
}

/** The files of a project that has downloaded the Python client. */
export const pythonClientFiles = (): Readonly<Record<string, string>> => ({
  "mailkind.py": pythonClient("http://127.0.0.1:9"),
})
