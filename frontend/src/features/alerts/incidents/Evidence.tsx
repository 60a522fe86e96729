import { useComputedColorScheme } from '@mantine/core'
import type { Incident } from '~/api/incidents'
import { TripsGrid } from '~/charts/trips/TripsGrid'
import { formatCount } from '~/lib/units'
import { Panel } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { strings } from '../strings'
import styles from './incidents.module.css'

/** The score of each suspect, and the paths around the first on a small heatmap. */
export function Evidence({ incident: { evidence } }: { incident: Incident }) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const { names, unit, values } = evidence.heatmap
  // Loss is coloured in percent: the scale of the grid begins at one.
  const shown = unit === 'loss' ? values.map((row) => row.map((value) => value && value * 100)) : values
  const worst = Math.max(2, ...shown.flat().map((value) => value ?? 0))
  const inWords = (value: number | null | undefined) => {
    if (value === null || value === undefined) return strings.unknown
    return unit === 'loss' ? strings.percentLost(value.toFixed(1)) : strings.deviationsAbove(value.toFixed(1))
  }
  return (
    <Panel title={strings.evidence}>
      <div className={styles.evidence}>
        {names.length > 0 && (
          <figure className={styles.map}>
            <TripsGrid
              label={strings.evidenceSummary(
                names.join(', '),
                unit === 'loss' ? strings.lossLower : strings.deviationsLower,
                inWords(worst),
              )}
              names={names}
              values={shown}
              range={[1, worst]}
              theme={theme}
              describe={(row, column) => `${names[row]} → ${names[column]}: ${inWords(shown[row]?.[column])}`}
            />
            <figcaption>{strings.evidenceScale(inWords(worst))}</figcaption>
          </figure>
        )}
        <Records
          label={strings.suspects}
          rows={evidence.hypotheses}
          id={(suspect) => suspect.words}
          columns={[
            { title: strings.suspect, cell: (suspect) => suspect.words, as: 'head' },
            {
              title: strings.affectedPaths,
              cell: (suspect) => strings.countOf(formatCount(suspect.bad), formatCount(suspect.known)),
              as: 'number',
            },
            { title: strings.score, cell: (suspect) => suspect.score.toFixed(1).replace('-', '−'), as: 'number' },
          ]}
        />
      </div>
    </Panel>
  )
}
