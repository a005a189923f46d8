import { defectFields } from "../../base/log.ts"
import type { OnDefect } from "../../check/evidence-defects.ts"
import type { Meter } from "../../http/metrics/meter.ts"
import type { AppContext } from "../context.ts"

/** Logs each defect in reading evidence as a fault of its kind, and counts it. */
export const createOnDefect =
  ({ log }: Pick<AppContext, "log">, meter?: Meter): OnDefect =>
  (kind, error) => {
    meter?.increment("mailkind_evidence_defects_total", 1, kind)
    log("error", "evidence was not read", { fault: `defect_${kind}`, ...defectFields(error) })
  }
