import { useComputedColorScheme } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Incident } from '~/api/incidents'
import { TripsGrid } from '~/charts/trips/TripsGrid'
import { formatDelay, formatSignedDelay } from '~/lib/units'
import { Panel } from '~/ui/Page'
import { PictureMenu } from '~/ui/PictureMenu'
import { strings } from '../strings'
import { linkTime, UNUSUAL_NS } from './impactWords'
import styles from './incidents.module.css'
import { Suspects } from './Suspects'
import { WorstPaths } from './WorstPaths'

/** The suspects, the worst paths, and the paths around the first suspect on a small heatmap. */
export function Evidence({ incident }: { incident: Incident }) {
  return (
    <Panel title={strings.evidence}>
      <div className={styles.evidence}>
        <Around incident={incident} />
        <div className={styles.tables}>
          <Suspects incident={incident} />
          <WorstPaths incident={incident} />
        </div>
      </div>
    </Panel>
  )
}

/** The paths around the first suspect; each cell leads to its path. */
function Around({ incident }: { incident: Incident }) {
  const { evidence, mesh } = incident
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const { ids, names, unit, values, changes_ns: changes } = evidence.heatmap
  if (names.length === 0) return null
  const time = linkTime(incident)
  const isLoss = unit === 'loss'
  const isDelay = unit === 'spikes' || unit === 'delay'
  // Loss is coloured in percent: the scale of the grid begins at one.
  const shown = isLoss ? values.map((row) => row.map((value) => value && value * 100)) : (changes ?? values)
  const least = isDelay || (!isLoss && changes) ? UNUSUAL_NS : 1
  const worst = Math.max(0, ...shown.flat().map((value) => value ?? 0))
  if (worst === 0) return null // nothing to see: no path around has it
  const inWords = (value: number | null | undefined) => {
    if (value === null || value === undefined) return strings.unknown
    if (isLoss) return strings.percentLost(value.toFixed(1))
    if (unit === 'spikes') return strings.aboveMedian(formatDelay(value))
    if (unit === 'delay') return formatDelay(value)
    return changes ? strings.fromUsual(formatSignedDelay(value)) : strings.deviationsAbove(value.toFixed(1))
  }
  const quantity = strings.mapped[changes && unit === 'deviations' ? 'changes' : unit]
  return (
    <figure className={styles.map}>
      <TripsGrid
        label={strings.evidenceSummary(names.join(', '), quantity, inWords(worst))}
        names={names}
        values={shown}
        range={[least, Math.max(2 * least, worst)]}
        theme={theme}
        describe={(row, column) =>
          row === column ? `${names[row]}` : `${names[row]} → ${names[column]}: ${inWords(shown[row]?.[column])}`
        }
        wrap={(row, column, cell) => {
          const [source, target] = [ids?.[row], ids?.[column]]
          return source && target && source !== target ? (
            // The table of worst paths has the same links for the keyboard.
            <Link
              key={`${source} ${target}`}
              tabIndex={-1}
              aria-hidden
              to="/meshes/$meshId/paths/$source/$target"
              params={{ meshId: mesh.id, source, target }}
              search={time}
            >
              {cell}
            </Link>
          ) : (
            cell
          )
        }}
      />
      <figcaption>
        {strings.evidenceScale(inWords(worst))}{' '}
        <PictureMenu title={strings.evidence} note={strings.evidenceScale(inWords(worst))} withTable={false} />
      </figcaption>
    </figure>
  )
}
