import { chmod, mkdir, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import manifest from "../../package.json" with { type: "json" }
import { ROOT, runCommand } from "./package-folder.ts"

/** The architectures of Debian for which there are packages, by the target of their executable. */
export const DEB_ARCHITECTURES = { "linux-x64": "amd64", "linux-arm64": "arm64" } as const
export type DebTarget = keyof typeof DEB_ARCHITECTURES

/** The executable of the unit in `data/deploy`, which an administrator installs by hand, and that of the package. */
const BY_HAND = "/usr/local/bin/mailkind"
const PACKAGED = "/usr/bin/mailkind"

const CONTROL = "DEBIAN"

/** An instance that runs goes on with the executable that it has, until the other one takes over. */
const AFTER_INSTALLATION = `#!/bin/sh
set -e
if [ "$1" = configure ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  if [ -z "$2" ]; then
    echo "Start mailkind with: systemctl enable --now mailkind@a"
  else
    echo "To take over without refusing a connection, start the instance that does not run, mailkind@a or mailkind@b, and disable the other."
  fi
fi
`

const BEFORE_REMOVAL = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now mailkind@a mailkind@b
fi
`

/**
 * Packs an executable with its unit, settings, manual page and completions into `mailkind_VERSION_ARCHITECTURE.deb` beside it, and gives the
 * path. Needs `dpkg-deb`. The data of an installed server is in `/var/lib/mailkind`, and no removal deletes it. `writtenAtS` is the time of all
 * files, so that the same executable gives the same bytes.
 */
export async function buildDeb(executable: string, target: DebTarget, writtenAtS: number): Promise<string> {
  const architecture = DEB_ARCHITECTURES[target]
  const packed = join(dirname(executable), `mailkind_${manifest.version}_${architecture}.deb`)
  const folder = `${packed.slice(0, -".deb".length)}.folder`
  await rm(folder, { recursive: true, force: true })
  const write = async (path: string, bytes: string | Uint8Array | Blob, mode = 0o644): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await Bun.write(join(folder, path), bytes)
    await chmod(join(folder, path), mode)
  }
  const printed = (...words: readonly string[]): string =>
    runCommand([process.execPath, join(ROOT, "src/main.ts"), ...words], ROOT)
  const deployed = (name: string): Promise<string> => Bun.file(join(ROOT, "data/deploy", name)).text()
  await write(PACKAGED, Bun.file(executable), 0o755)
  await write("/usr/lib/systemd/system/mailkind@.service", packagedUnit(await deployed("mailkind@.service")))
  await write(SETTINGS_FILE, await deployed("mailkind.env"), 0o600)
  await write("/usr/share/man/man1/mailkind.1.gz", Bun.gzipSync(printed("man"), { level: 9 }))
  for (const [shell, path] of Object.entries(COMPLETIONS)) await write(path, printed("completion", shell))
  await write("/usr/share/doc/mailkind/copyright", await copyright())
  await write("/usr/share/doc/mailkind/mailkind.cdx.json", Bun.file(`${executable}.cdx.json`))
  await write(`${CONTROL}/control`, controlFile(architecture, Bun.file(executable).size))
  await write(`${CONTROL}/conffiles`, `${SETTINGS_FILE}\n`)
  await write(`${CONTROL}/postinst`, AFTER_INSTALLATION, 0o755)
  await write(`${CONTROL}/prerm`, BEFORE_REMOVAL, 0o755)
  const command = ["dpkg-deb", "--root-owner-group", "-Zgzip", "-z6", "--build", folder, packed]
  runCommand(["env", `SOURCE_DATE_EPOCH=${writtenAtS}`, ...command], ROOT)
  await rm(folder, { recursive: true })
  return packed
}

const SETTINGS_FILE = "/etc/mailkind/mailkind.env"

const COMPLETIONS = {
  bash: "/usr/share/bash-completion/completions/mailkind",
  zsh: "/usr/share/zsh/vendor-completions/_mailkind",
  fish: "/usr/share/fish/vendor_completions.d/mailkind.fish",
} as const

/** The unit without how it is installed by hand, with the executable where the package has it. */
function packagedUnit(unit: string): string {
  return unit.slice(unit.indexOf("[Unit]")).replaceAll(BY_HAND, PACKAGED)
}

/** In the machine-readable form of Debian's policy (copyright-format 1.0). */
async function copyright(): Promise<string> {
  const licence = await Bun.file(join(ROOT, "LICENSE")).text()
  const [holder = ""] = /Copyright .*/.exec(licence) ?? []
  const text = licence
    .trimEnd()
    .split("\n")
    .map(line => ` ${line === "" ? "." : line}`)
  return [
    "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/",
    "Comment: `mailkind licences` prints the licences of all that the executable is made of.",
    "",
    "Files: *",
    `Copyright: ${holder.replace(/^Copyright (\(c\) )?/, "")}`,
    `License: ${manifest.license}`,
    ...text,
    "",
  ].join("\n")
}

function controlFile(architecture: string, bytes: number): string {
  return `Package: mailkind
Version: ${manifest.version}
Architecture: ${architecture}
Maintainer: mailkind
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: libc6
Recommends: ca-certificates
Section: mail
Priority: optional
Description: tells what an email address, a domain or a website is
 ${manifest.description}
`
}
