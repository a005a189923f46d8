import { NO_CORRECTIONS } from "./check.ts"
import { OFFLINE_DEEP_PROBE } from "./deep-evidence.ts"
import { offlineNetworkProbe } from "./network-evidence.ts"

/** The options of a check that uses the lists alone and sends no queries. */
export const LISTS_ALONE = {
  networkProbe: offlineNetworkProbe,
  deepProbe: OFFLINE_DEEP_PROBE,
  corrections: NO_CORRECTIONS,
} as const
