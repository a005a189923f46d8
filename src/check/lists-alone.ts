import { NO_CORRECTIONS } from "./check.ts"
import { OFFLINE_DEEP_PROBE } from "./deep-evidence.ts"
import { offlineNetworkProbe } from "./network-evidence.ts"

/** What a check is created with that asks nobody: its verdicts rest on the lists alone. */
export const LISTS_ALONE = {
  networkProbe: offlineNetworkProbe,
  deepProbe: OFFLINE_DEEP_PROBE,
  corrections: NO_CORRECTIONS,
} as const
