/** Texts of verdicts. */

import type { Incident } from '~/api/incidents'
import { strings } from '../strings'

type Verdict = Incident['verdict']

const VERDICTS: Record<Verdict['kind'], string> = {
  network: strings.verdictNetwork,
  clock: strings.verdictClock,
  agent: strings.verdictAgent,
  host: strings.verdictHost,
  application: strings.verdictApplication,
  shaping: strings.verdictShaping,
  fairness: strings.verdictFairness,
  undecided: strings.verdictUndecided,
}

/** Return the verdict on an incident as a sentence. */
export function verdictSentence(kind: Verdict['kind'], suspect: string): string {
  return kind === 'agent' && suspect !== 'agent' ? strings.verdictAgents : VERDICTS[kind]
}
