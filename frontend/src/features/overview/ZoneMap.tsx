import { useComputedColorScheme } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { serverNow } from '~/api/connection'
import type { Deviations, MeshHealth } from '~/api/overview'
import { changed, contrast, type Rgb, type Theme } from '~/charts/heatmap/palette'
import { changePositions } from '~/charts/heatmap/scale'
import { facts } from '~/lib/metrics'
import { NOW } from '~/lib/spans'
import { formatDelay, formatSignedDelay, formatSignedPercent } from '~/lib/units'
import { lastHourOnly } from '~/lib/usual'
import { zoneView } from '~/lib/zoneView'
import { useNow } from '~/ui/useNow'
import { useRoving } from '~/ui/useRoving'
import { changesOf, type PairChange } from './deviation'
import { isCovered, isOf, kindOf, type MarkKind, marksOf } from './marks'
import styles from './overview.module.css'
import { strings } from './strings'

// Every colour has a contrast of at least 4.5 with one of the two.
const INK: readonly Rgb[] = [
  [0, 0, 0],
  [255, 255, 255],
]

/** Names of more zones than this stand upright above their columns, so that the columns fit the card. */
const LEVEL_NAMES_MAX = 8

const NOW_MS = 60_000

const css = (colour: Rgb) => `rgb(${colour.join(' ')})`

/** Return the colours of a cell: grey where it is as usual, none where that is not known. */
function coloursOf(change: PairChange, ofIncident: boolean, theme: Theme, position: (changeNs: number) => number) {
  if (change.changeNs === null || (ofIncident && !change.isUnusual)) return undefined
  const background = changed(theme)(change.isUnusual ? position(change.changeNs) : 0.5)
  const [ink] = INK.toSorted((a, b) => contrast(b, background) - contrast(a, background))
  return { background: css(background), color: css(ink as Rgb) }
}

function sentence(change: PairChange, ofIncident: boolean): string {
  const { nowNs, changeNs, percent, isPlanned, isMeasured, isUnusual } = change
  if (!isMeasured) return isPlanned ? strings.cellNoData : strings.cellNotPlanned
  if (nowNs === null) return strings.cellNoBaseline
  const now = formatDelay(nowNs)
  if (isUnusual) return strings.cellUnusual(now, formatSignedDelay(changeNs), formatSignedPercent(percent))
  return ofIncident ? strings.cellOfIncident(now) : strings.cellUsual(now)
}

/** The comparison in a sentence, and what it cannot show. */
function Found({ changes, covered }: { changes: PairChange[]; covered: number }) {
  const known = changes.filter(({ changeNs }) => changeNs !== null)
  const unusual = known.filter(({ isUnusual }) => isUnusual).length
  const young = known.filter(({ basis }) => basis === 'last_hour').length
  const pairs = strings.zonePairs(known.length)
  if (known.length === 0) {
    const isMeasured = changes.some((change) => change.isMeasured)
    return <strong>{isMeasured ? strings.nothingUsualYet : strings.nothingMeasured}</strong>
  }
  return (
    <>
      {unusual > 0 && <strong>{strings.unusualPairs(unusual, pairs)} </strong>}
      {covered > 0 && <strong>{strings.usualOfIncident(covered, pairs)} </strong>}
      {unusual + covered === 0 && <strong>{strings.allUsual} </strong>}
      {lastHourOnly(young, known.length, pairs)}
    </>
  )
}

const KINDS: MarkKind[] = ['vm', 'silent', 'loss']

interface Props {
  mesh: MeshHealth
  deviations: Deviations
}

/** Zone × zone, coloured by the change from usual, with marks; a cell opens the heatmap of its zone pair. */
export function ZoneMap({ mesh, deviations }: Props) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const { axis } = deviations
  const now = useNow(NOW_MS, serverNow)
  const changes = changesOf(deviations)
  const unusual = changes.filter(({ isUnusual }) => isUnusual)
  const position = changePositions(
    unusual.map(({ changeNs }) => changeNs),
    facts('deviation').least,
  )
  const covered = changes.map((change) => {
    const [source, target] = [axis[change.source]?.id ?? '', axis[change.target]?.id ?? '']
    return mesh.worst_incidents.some((incident) => isCovered(incident, source, target, change.basis, now))
  })
  const roving = useRoving(
    changes.map(({ isPlanned }) => isPlanned),
    axis.length,
  )
  const [first] = mesh.worst_incidents
  const regionOf = new Map(mesh.zones.map(({ id, region }) => [id, region]))
  // A wider gap before the first zone of a region.
  const starts = axis.map(
    ({ id }, at) => (at > 0 && regionOf.get(id) !== regionOf.get(axis[at - 1]?.id ?? '')) || undefined,
  )
  return (
    <>
      <p className={styles.hint}>
        <Found changes={changes} covered={covered.filter(Boolean).length} /> {strings.zonesLead}
      </p>
      <div className={styles.scroll}>
        <table
          className={styles.zones}
          data-roving
          data-dense={axis.length > LEVEL_NAMES_MAX || undefined}
          aria-label={strings.zoneTable(mesh.name)}
        >
          <thead>
            <tr>
              <th scope="col">{strings.fromTo}</th>
              {axis.map(({ id, name }, column) => (
                <th key={id} scope="col" title={name} data-start={starts[column]}>
                  <span>{name}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {axis.map((from, row) => (
              <tr key={from.id} data-start={starts[row]}>
                <th scope="row" title={from.name}>
                  {from.name}
                </th>
                {axis.map((to, column) => {
                  const index = row * axis.length + column
                  const change = changes[index]
                  if (!change) return null
                  const marks = marksOf(mesh, from.id, to.id, change.isUnusual)
                  const isCover = covered[index] ?? false
                  const words = [sentence(change, isCover), ...marks.map(({ kind }) => strings.marks[kind])]
                  const label = `${strings.zonePair(from.name, to.name)}: ${words.join('; ')}`
                  const view = zoneView(mesh.zones, from.id, to.id)
                  const isFirst = first && kindOf(first) === null && isOf(first, from.id, to.id)
                  return (
                    <td
                      key={to.id}
                      style={coloursOf(change, isCover, theme, position)}
                      data-start={starts[column]}
                      data-first={isFirst || undefined}
                      data-unknown={change.changeNs === null || (isCover && !change.isUnusual) || undefined}
                    >
                      {change.isPlanned ? (
                        <Link
                          {...roving(index)}
                          to="/meshes/$meshId"
                          params={{ meshId: mesh.id }}
                          search={view ? { ...NOW, view } : NOW}
                          aria-label={label}
                          title={label}
                        >
                          {change.isUnusual && formatSignedDelay(change.changeNs)}
                          {marks.map(({ kind, first }) => (
                            <i key={kind} className={styles.mark} data-kind={kind} data-first={first || undefined} />
                          ))}
                        </Link>
                      ) : (
                        <span title={label} />
                      )}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ul className={styles.markKey}>
        {KINDS.map((kind) => (
          <li key={kind}>
            <i className={styles.mark} data-kind={kind} /> {strings.marks[kind]}
          </li>
        ))}
      </ul>
    </>
  )
}
