/** The states of a path in words; null for a measured one. */

import { strings } from './strings'

export const STATE_TEXT = {
  measured: null,
  not_planned: strings.notPlanned,
  no_data: strings.noData,
  stale: strings.stale,
  lost: strings.lost,
  earlier: strings.earlier,
  no_service: strings.noService,
  estimated: strings.notPlanned,
}

/** Return an agent's message as a sentence of its own: the agent writes its log in lower case, without a full stop. */
export function sentenceOf(message: string): string {
  const text = message.slice(0, 1).toUpperCase() + message.slice(1)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
