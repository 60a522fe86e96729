/** Keys of the product, as the list of shortcuts shows them. */

import { strings } from '../strings'

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent)

export const PALETTE_KEYS = [isApple ? '⌘' : 'Ctrl', 'K']

interface Shortcut {
  keys: readonly string[]
  does: string
}

export const SHORTCUTS: { where: string; shortcuts: readonly Shortcut[] }[] = [
  {
    where: strings.everywhere,
    shortcuts: [
      { keys: PALETTE_KEYS, does: strings.opensPalette },
      { keys: ['/'], does: strings.focusesSearch },
      { keys: ['?'], does: strings.showsShortcuts },
      { keys: ['K'], does: strings.entersKiosk },
      { keys: ['Esc'], does: strings.closesDialog },
    ],
  },
  {
    where: strings.overview,
    shortcuts: [{ keys: ['U'], does: strings.opensMostUnusual }],
  },
  {
    where: strings.path,
    shortcuts: [{ keys: ['A'], does: strings.createsAlert }],
  },
  {
    where: strings.heatmap,
    shortcuts: [
      { keys: ['←', '↑', '↓', '→'], does: strings.movesCell },
      { keys: ['Home', 'End'], does: strings.movesToEnd },
      { keys: ['Enter'], does: strings.opensCell },
      { keys: ['A'], does: strings.showsMoves },
    ],
  },
]
