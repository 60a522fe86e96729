/** The advisors, in the order of their tabs. */

import { ComputeMixIcon, FairnessIcon, ShapingIcon, TailLabIcon, TransfersIcon, TransportIcon } from './icons'
import { strings } from './strings'

export const ADVISORS = [
  { name: strings.computeMix, Icon: ComputeMixIcon, link: { to: '/advisors/compute-mix' } },
  { name: strings.fairness, Icon: FairnessIcon, link: { to: '/advisors/fairness' } },
  { name: strings.transport, Icon: TransportIcon, link: { to: '/advisors/transport' } },
  { name: strings.transfers, Icon: TransfersIcon, link: { to: '/advisors/transfers' } },
  { name: strings.shaping, Icon: ShapingIcon, link: { to: '/advisors/shaping' } },
  { name: strings.tailLab, Icon: TailLabIcon, link: { to: '/advisors/tail-lab' } },
] as const
