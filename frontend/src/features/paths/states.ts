/** The states of a path in words; null for a measured one. */

import { strings } from './strings'

export const STATE_TEXT = {
  measured: null,
  not_planned: strings.notPlannedHint,
  no_data: strings.noData,
  stale: strings.stale,
  lost: strings.lost,
  earlier: strings.earlier,
  no_service: strings.noService,
  estimated: strings.notPlannedHint,
}
