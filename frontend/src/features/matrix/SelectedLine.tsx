import { Button, Group, VisuallyHidden } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Matrix } from '~/api/matrix'
import type { Shown } from '~/api/measurements'
import type { Side } from '~/charts/heatmap/Axes'
import type { Coding } from '~/lib/codes'
import { facts } from '~/lib/metrics'
import { formatCount } from '~/lib/units'
import { ButtonLink } from '~/ui/links'
import styles from './matrix.module.css'
import { worst } from './metrics'
import { type Named, type Summary, summaryOf } from './selection'
import { strings } from './strings'
import { matrixTitle } from './useMatrix'

interface Props {
  meshId: string
  shown: Shown
  coding: Coding
  matrix: Matrix
  entries: readonly Named[]
  index: number
  onClear: () => void
}

/** The selected VM or zone: its row and its column in short, and its worst peers. */
export default function SelectedLine({ meshId, shown, coding, matrix, entries, index, onClear }: Props) {
  const { row, column } = useMemo(() => {
    const of = (side: Side) => summaryOf(matrix, entries, index, side, coding, worst(coding))
    return { row: of('row'), column: of('column') }
  }, [matrix, entries, index, coding])
  const selected = entries[index]
  if (!selected) return null
  const { format } = facts(coding)
  const isVm = shown.by === 'vm'
  const figures: [string, (summary: Summary) => string][] = [
    [strings.median, ({ median }) => (coding === 'deviation' && median === 0 ? strings.asUsual : format(median))],
    [strings.pathsMeasured, ({ measured }) => formatCount(measured)],
    [strings.pathsLost, ({ lost }) => formatCount(lost)],
  ]
  return (
    <section className={styles.card} aria-label={isVm ? strings.selectedVm : strings.selectedZone}>
      <header className={styles.cardHead}>
        <h2>{selected.name}</h2>
        <p>{[selected.zone, matrixTitle(shown)].filter(Boolean).join(' · ')}</p>
      </header>
      <table className={styles.figures} aria-label={strings.rowAndColumn}>
        <thead>
          <tr>
            <th scope="col">
              <VisuallyHidden>{strings.figure}</VisuallyHidden>
            </th>
            <th scope="col">{strings.fromIt}</th>
            <th scope="col">{strings.toIt}</th>
          </tr>
        </thead>
        <tbody>
          {figures.map(([name, figure]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{figure(row)}</td>
              <td>{figure(column)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Peers title={strings.worstFrom} side="row" summary={row} {...{ meshId, shown, selected, format }} />
      <Peers title={strings.worstTo} side="column" summary={column} {...{ meshId, shown, selected, format }} />
      <Group gap="xs">
        {isVm && (
          <ButtonLink variant="default" to="/vms/$vmId" params={{ vmId: selected.id }}>
            {strings.openVm}
          </ButtonLink>
        )}
        <Button variant="default" onClick={onClear}>
          {strings.clearSelection}
        </Button>
      </Group>
    </section>
  )
}

interface PeersProps {
  title: string
  side: Side
  summary: Summary
  meshId: string
  shown: Shown
  selected: Named
  format: (value: number | null) => string
}

/** The worst peers of one direction, each with a link to the path or the paths of the zone pair. */
function Peers({ title, side, summary, meshId, shown, selected, format }: PeersProps) {
  if (summary.worst.length === 0) return null
  return (
    <table className={styles.figures}>
      <caption className={styles.caption}>{title}</caption>
      <tbody>
        {summary.worst.map(({ id, name, value }) => {
          const [source, target] = side === 'row' ? [selected.id, id] : [id, selected.id]
          return (
            <tr key={id}>
              <th scope="row">
                {shown.by === 'vm' ? (
                  <Link
                    to="/meshes/$meshId/paths/$source/$target"
                    params={{ meshId, source, target }}
                    search={{ statistic: shown.statistic }}
                  >
                    {name}
                  </Link>
                ) : (
                  <Link to="/meshes/$meshId" params={{ meshId }} search={{ zones: `${source},${target}` }}>
                    {name}
                  </Link>
                )}
              </th>
              <td>{value === null ? strings.lostTitle : format(value)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
