/** Texts of the playback of a heatmap. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  playback: 'Playback',
  position: 'Shown time',
  play: 'Play',
  previous: 'Previous step',
  next: 'Next step',
  speed: 'Speed',
  speedOf: (steps: number) => (steps === 1 ? '1 step/s' : `${steps} steps/s`),
  range: 'Range of the playback',
  live: 'Live',
  liveWindows: 'Live: newest windows',
  ranged: 'A time range is shown',
  liveHint: 'Return to the newest windows (Esc)',
  with: (time: string, marks: string) => (marks ? `${time}: ${marks}` : time),
  incident: (title: string) => `Incident: ${title}`,
  and: '; ',
  failed: 'The next step could not be loaded. Press Play to try again.',
}
