import type { Scope } from '~/api/types'
import { strings } from './strings'

/** Resources that scopes are given for, with their labels. */
export const FAMILIES = {
  inventory: strings.familyInventory,
  measurements: strings.measurements,
  alerts: strings.alerts,
  applications: strings.familyApplications,
  recommendations: strings.recommendations,
  annotations: strings.familyAnnotations,
  tenant: strings.familyTenant,
}
export type Family = keyof typeof FAMILIES

/** Return the scopes of a key as text: "Read", "Alerts: read and write". */
export function scopesText(scopes: readonly Scope[]): string {
  const access = (prefix: string) =>
    scopes.includes(`${prefix}write` as Scope)
      ? strings.readWrite
      : scopes.includes(`${prefix}read` as Scope)
        ? strings.read
        : null
  const some = (Object.keys(FAMILIES) as Family[]).flatMap((family) => {
    const text = access(`${family}:`)
    return text === null ? [] : [`${FAMILIES[family]}: ${text.toLowerCase()}`]
  })
  return [access(''), ...some].filter((text) => text !== null).join(', ')
}
