import type { SmtpTrial } from "../customers/notices/smtp-trial.ts"
import { type Examined, failing, well } from "./examined.ts"

const REMEDIES: { readonly [S in Extract<SmtpTrial, { kind: "failed" }>["step"]]: string } = {
  connect: "Set MAILKIND_SMTP_URL to a server that answers, and let this host reach its port.",
  tls: "Name the host as its certificate does, and use smtps:// for a port that is TLS from the first octet.",
  log_in: "Set the user and the password in MAILKIND_SMTP_URL, percent-encoded.",
  command: "Look at the log of the mail server: it takes the log-in, and nothing after it.",
}

/** What trying the mail server came to. */
export function examineMailServer(trial: SmtpTrial): Examined {
  const { place } = trial
  if (trial.kind === "failed") {
    const reply = trial.reply === null ? "" : `, reply ${trial.reply}`
    return failing(`${place} failed at the step ${trial.step} (${trial.cause}${reply}).`, REMEDIES[trial.step])
  }
  const how = trial.isEncrypted ? "by TLS" : "without TLS"
  return well(`${place} was reached ${how}${trial.isLoggedIn ? " and took the log-in" : ", and no log-in is set"}.`)
}
