import { useComputedColorScheme } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Deviations, MeshHealth } from '~/api/overview'
import { contrast, diverging, QUIET, type Rgb, type Theme } from '~/charts/heatmap/palette'
import { NOW } from '~/lib/spans'
import { formatDelay, formatSignedDelay, formatSignedPercent } from '~/lib/units'
import { zoneView } from '~/lib/zoneView'
import { useRoving } from '~/ui/useRoving'
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

const css = (colour: Rgb) => `rgb(${colour.join(' ')})`

/** Return the colours of a cell: grey where it is as usual, none where that is not known. */
function coloursOf(change: PairChange, theme: Theme) {
  if (change.changeNs === null) return undefined
  const background = change.isUnusual ? diverging(theme)(positionOf(change)) : QUIET[theme]
  const [ink] = INK.toSorted((a, b) => contrast(b, background) - contrast(a, background))
  return { background: css(background), color: css(ink as Rgb) }
}

function sentence({ nowNs, changeNs, percent, isPlanned, isMeasured, isUnusual }: PairChange): string {
  if (!isMeasured) return isPlanned ? strings.cellNoData : strings.cellNotPlanned
  if (nowNs === null) return strings.cellNoBaseline
  const now = formatDelay(nowNs)
  return isUnusual
    ? strings.cellUnusual(now, formatSignedDelay(changeNs), formatSignedPercent(percent))
    : strings.cellUsual(now)
}

/** Zone × zone, coloured by the change from usual; a cell opens the heatmap of its zone pair. */
export function ZoneMap({ mesh, deviations }: { mesh: MeshHealth; deviations: Deviations }) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const { axis } = deviations
  const changes = changesOf(deviations)
  const roving = useRoving(
    changes.map(({ isPlanned }) => isPlanned),
    axis.length,
  )
  const known = changes.filter(({ changeNs }) => changeNs !== null).length
  const unusual = changes.filter(({ isUnusual }) => isUnusual).length
  return (
    <>
      <p className={styles.hint}>
        <strong>
          {known === 0
            ? changes.some(({ isMeasured }) => isMeasured)
              ? strings.nothingUsualYet
              : strings.nothingMeasured
            : unusual === 0
              ? strings.allUsual
              : strings.unusualPairs(unusual, strings.zonePairs(known))}
        </strong>{' '}
        {strings.zonesLead}
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
                  const label = `${strings.zonePair(from.name, to.name)}: ${sentence(change)}`
                  const view = zoneView(mesh.zones, from.id, to.id)
                  return (
                    <td
                      key={to.id}
                      style={coloursOf(change, theme)}
                      data-unknown={change.changeNs === null || undefined}
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
