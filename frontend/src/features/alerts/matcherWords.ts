/** Texts of matchers. */

import type { Matcher } from '~/api/silences'
import { strings } from './strings'

export const LABELS: Record<Matcher['label'], string> = {
  mesh: strings.mesh,
  severity: strings.severity,
  suspect: strings.suspect,
  rule: strings.rule,
  vm: strings.vm,
  zone: strings.zone,
  application: strings.application,
}

/** "mesh is prod", "zone is not eu-*". */
export const matcherWords = ({ label, value, negate }: Matcher) =>
  strings.matcher(label, negate ? strings.not : '', value)
