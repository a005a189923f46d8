import {
  type ComparedSettings,
  differingNode,
  EQUAL_SETTINGS_REMEDY,
  type NodeSettingsRow,
} from "../customers/nodes/equal-settings.ts"
import { type DiagnosticResult, ok, warning } from "./diagnostics.ts"

/** Compares settings, which are valid, with those of the nodes of the database. */
export function diagnoseSettings(
  settings: ComparedSettings,
  nodes: readonly NodeSettingsRow[],
  notice: string,
): DiagnosticResult {
  const seen = `All settings are known and valid.${notice}`
  const differing = differingNode(settings, nodes)
  return differing === null
    ? ok(seen)
    : warning(
        `${seen} Other values than the node ${differing.where} have: ${differing.names.join(", ")}.`,
        EQUAL_SETTINGS_REMEDY,
      )
}
