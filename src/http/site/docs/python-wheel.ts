import { strToU8, zipSync } from "fflate"
import PRODUCT from "../../../../package.json" with { type: "json" }

const INFO = `mailkind-${PRODUCT.version}.dist-info`

/** The file name of the wheel: name, version, and that it runs on every Python 3. */
export const WHEEL_NAME = `mailkind-${PRODUCT.version}-py3-none-any.whl`

/** The first time that a ZIP archive can hold. It is read as local time, so the archive is the same in every zone. */
const NO_TIME = new Date(1980, 0, 1)

const METADATA = `Metadata-Version: 2.1
Name: mailkind
Version: ${PRODUCT.version}
Summary: Client of mailkind: checks email addresses, domains and websites, and never keeps a person out because a check failed.
License: ${PRODUCT.license}
Requires-Python: >=3.9
Classifier: Typing :: Typed
`

const WHEEL = `Wheel-Version: 1.0
Generator: mailkind ${PRODUCT.version}
Root-Is-Purelib: true
Tag: py3-none-any
`

/**
 * A wheel of the client, which `pip install` takes (the binary distribution format of the Python packaging guide). It is a package
 * with `py.typed`, so that type checkers read its annotations. The same source always gives the same bytes.
 */
export function pythonWheel(source: string): Uint8Array<ArrayBuffer> {
  const files: Readonly<Record<string, string>> = {
    "mailkind/__init__.py": source,
    "mailkind/py.typed": "",
    [`${INFO}/METADATA`]: METADATA,
    [`${INFO}/WHEEL`]: WHEEL,
  }
  const record = `${Object.entries(files).map(recordLine).join("")}${INFO}/RECORD,,\n`
  const entries = Object.entries({ ...files, [`${INFO}/RECORD`]: record })
  const zipped = zipSync(Object.fromEntries(entries.map(([path, text]) => [path, strToU8(text)])), { mtime: NO_TIME })
  return new Uint8Array(zipped)
}

/** The line of the list of files: path, digest and size. */
const recordLine = ([path, text]: readonly [string, string]): string =>
  `${path},sha256=${Bun.SHA256.hash(text, "base64url").replaceAll("=", "")},${Buffer.byteLength(text)}\n`
