import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { curveVersionsQuery } from '~/api/queries'
import type { CurveDetail } from '~/api/types'
import { formatMicroseconds, formatShare } from '~/lib/performance'
import { formatMoment } from '~/lib/time'
import { useClock } from '~/ui/clock'
import { Panel, pageStyles, Table } from '~/ui/Page'

const { number, wrap, quiet } = pageStyles

/** Every family of functions that was tried, by how much of the curve it makes. */
export function Candidates({ version }: { version: CurveDetail['version'] }) {
  if (version.candidates.length === 0) return null
  return (
    <Panel title="Families that were tried">
      <Table label="Families">
        <thead>
          <tr>
            <th scope="col">Family</th>
            <th scope="col" className={number}>
              Share of the curve
            </th>
            <th scope="col" className={number}>
              Typical error
            </th>
            <th scope="col" className={number}>
              Score
            </th>
            <th scope="col">Best member, x in µs</th>
          </tr>
        </thead>
        <tbody>
          {version.candidates.map((one) => (
            <tr key={one.family}>
              <th scope="row">{one.words}</th>
              <td className={number}>{formatShare(one.weight)}</td>
              <td className={number}>{formatShare(one.error)}</td>
              <td className={number}>{one.log_score.toFixed(1).replace('-', '−')}</td>
              <td className={wrap}>{one.formula}</td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Panel>
  )
}

/** What the source of a published curve says in words, beside what the curve says. */
export function Stated({ curve }: { curve: CurveDetail }) {
  const { stated } = curve.version
  if (stated.length === 0) return null
  return (
    <Panel title="What the source states">
      <Table label="Stated points">
        <thead>
          <tr>
            <th scope="col" className={number}>
              Added
            </th>
            <th scope="col" className={number}>
              Stated
            </th>
            <th scope="col" className={number}>
              Curve
            </th>
            <th scope="col">In words</th>
            <th scope="col">Setup</th>
          </tr>
        </thead>
        <tbody>
          {stated.map((one) => (
            <tr key={`${one.added_us} ${one.setup} ${one.words}`}>
              <td className={number}>{formatMicroseconds(one.added_us)}</td>
              <td className={number}>
                {one.relation} {formatShare(one.performance)}
              </td>
              <td className={number}>{formatShare(one.curve)}</td>
              <td className={wrap}>{one.words}</td>
              <td>{one.setup || <span className={quiet}>the curve’s own</span>}</td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Panel>
  )
}

/** All versions of a curve of the tenant; none is ever changed. */
export function Versions({ curve, onNumber }: { curve: CurveDetail; onNumber: (number: number | undefined) => void }) {
  const clock = useClock()
  const { data: versions } = useQuery({ ...curveVersionsQuery(curve.id), enabled: curve.origin === 'own' })
  if (curve.origin !== 'own' || !versions) return null
  return (
    <Panel title="Versions">
      <Table label="Versions">
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">Made</th>
            <th scope="col">By</th>
            <th scope="col" className={number}>
              Rows
            </th>
            <th scope="col">Family</th>
            <th scope="col">Source</th>
          </tr>
        </thead>
        <tbody>
          {versions.map((one) => (
            <tr key={one.number} aria-current={one.number === curve.version.number || undefined}>
              <th scope="row">
                {one.number === curve.version.number ? (
                  `${one.number}, shown`
                ) : (
                  <Anchor
                    component="button"
                    type="button"
                    size="sm"
                    aria-label={`Version ${one.number}`}
                    onClick={() => onNumber(one.number === curve.newest ? undefined : one.number)}
                  >
                    {one.number}
                  </Anchor>
                )}
              </th>
              <td>{one.created_at && formatMoment(new Date(one.created_at), clock)}</td>
              <td>{one.made_by}</td>
              <td className={number}>{one.rows}</td>
              <td>{one.family}</td>
              <td className={wrap}>{one.source || <span className={quiet}>not stated</span>}</td>
            </tr>
          ))}
        </tbody>
      </Table>
    </Panel>
  )
}
