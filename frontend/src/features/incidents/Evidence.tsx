import { useComputedColorScheme } from '@mantine/core'
import type { Incident } from '~/api/incidents'
import { TripsGrid } from '~/charts/trips/TripsGrid'
import { formatCount } from '~/lib/units'
import { Panel } from '~/ui/Page'
import { Records } from '~/ui/Records'
import styles from './incidents.module.css'

/** What speaks for each suspect, and the paths around the first on a small heatmap. */
export function Evidence({ incident: { evidence } }: { incident: Incident }) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const { names, unit, values } = evidence.heatmap
  // Loss is coloured in percent: the scale of the grid begins at one.
  const shown = unit === 'loss' ? values.map((row) => row.map((value) => value && value * 100)) : values
  const worst = Math.max(2, ...shown.flat().map((value) => value ?? 0))
  const inWords = (value: number | null | undefined) => {
    if (value === null || value === undefined) return 'not known'
    return unit === 'loss' ? `${value.toFixed(1)} % lost` : `${value.toFixed(1)} deviations above what is usual`
  }
  return (
    <Panel title="Evidence">
      <div className={styles.evidence}>
        {names.length > 0 && (
          <figure className={styles.map}>
            <TripsGrid
              label={`Paths among ${names.join(', ')}: ${unit === 'loss' ? 'loss' : 'deviations from what is usual'}, at most ${inWords(worst)}`}
              names={names}
              values={shown}
              range={[1, worst]}
              theme={theme}
              describe={(row, column) => `${names[row]} → ${names[column]}: ${inWords(shown[row]?.[column])}`}
            />
            <figcaption>From each row to each column. At most {inWords(worst)}.</figcaption>
          </figure>
        )}
        <Records
          label="Suspects"
          rows={evidence.hypotheses}
          id={(one) => one.words}
          columns={[
            { title: 'Suspect', cell: (one) => one.words, as: 'head' },
            {
              title: 'Bad paths',
              cell: (one) => `${formatCount(one.bad)} of ${formatCount(one.known)}`,
              as: 'number',
            },
            { title: 'Score', cell: (one) => one.score.toFixed(1).replace('-', '−'), as: 'number' },
          ]}
        />
      </div>
    </Panel>
  )
}
