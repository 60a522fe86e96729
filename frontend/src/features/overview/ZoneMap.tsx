import { useComputedColorScheme } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { serverNow } from '~/api/connection'
import type { Deviations, MeshHealth } from '~/api/overview'
import { contrast, diverging, QUIET, type Rgb, type Theme } from '~/charts/heatmap/palette'
import { NOW } from '~/lib/spans'
import { formatDelay, formatSignedDelay, formatSignedPercent } from '~/lib/units'
import { lastHourOnly } from '~/lib/usual'
import { zoneView } from '~/lib/zoneView'
import { useNow } from '~/ui/useNow'
import { useRoving } from '~/ui/useRoving'
import { isCovered } from './comparison'
import { changesOf, type PairChange, positionOf } from './deviation'
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
function coloursOf(change: PairChange, ofIncident: boolean, theme: Theme) {
  if (change.changeNs === null || (ofIncident && !change.isUnusual)) return undefined
  const background = change.isUnusual ? diverging(theme)(positionOf(change)) : QUIET[theme]
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
function Found({ mesh, changes, covered }: { mesh: MeshHealth; changes: PairChange[]; covered: number }) {
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
      {lastHourOnly(young, known.length, pairs)}{' '}
      {unusual + covered === 0 && mesh.open_incidents > 0 && strings.incidentNotInMedians}
    </>
  )
}

/** Zone × zone, coloured by the change from usual; a cell opens the heatmap of its zone pair. */
export function ZoneMap({ mesh, deviations }: { mesh: MeshHealth; deviations: Deviations }) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const { axis } = deviations
  const now = useNow(NOW_MS, serverNow)
  const changes = changesOf(deviations)
  const covered = changes.map((change) => isCovered(change, mesh, now))
  const roving = useRoving(
    changes.map(({ isPlanned }) => isPlanned),
    axis.length,
  )
  return (
    <>
      <p className={styles.hint}>
        <Found mesh={mesh} changes={changes} covered={covered.filter(Boolean).length} /> {strings.zonesLead}
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
              {axis.map(({ id, name }) => (
                <th key={id} scope="col" title={name}>
                  <span>{name}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {axis.map((from, row) => (
              <tr key={from.id}>
                <th scope="row" title={from.name}>
                  {from.name}
                </th>
                {axis.map((to, column) => {
                  const index = row * axis.length + column
                  const change = changes[index]
                  if (!change) return null
                  const label = `${strings.zonePair(from.name, to.name)}: ${sentence(change, covered[index] ?? false)}`
                  const view = zoneView(mesh.zones, from.id, to.id)
                  return (
                    <td
                      key={to.id}
                      style={coloursOf(change, covered[index] ?? false, theme)}
                      data-unknown={change.changeNs === null || (covered[index] && !change.isUnusual) || undefined}
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
    </>
  )
}
