import type { ReactNode } from 'react'
import type { CurveDetail } from '~/api/types'
import { formatMicroseconds, formatShare } from '~/lib/performance'
import { formatMoment, zoneName } from '~/lib/time'
import { formatCount } from '~/lib/units'
import { useClock } from '~/ui/clock'
import styles from './curves.module.css'

/** The facts of a version: where the numbers are from and what was found in them. */
export function About({ curve }: { curve: CurveDetail }) {
  const { version } = curve
  const { threshold } = version
  const clock = useClock()
  const made = version.created_at ? new Date(version.created_at) : null
  return (
    <dl className={styles.about}>
      <Fact term="Formula">{version.formula}</Fact>
      <Fact term="Metric">
        {curve.metric === 'rate' ? 'a rate, which falls with latency' : 'a duration, which grows with latency'}
        {curve.unit && `; ${curve.unit}`}
      </Fact>
      <Fact term="Baseline">
        {version.baseline === null ? 'not stated' : `${significant(version.baseline)} ${curve.unit}`}
      </Fact>
      <Fact term="Flat threshold">
        {threshold
          ? `${formatMicroseconds(threshold.at_us)}${threshold.low_us !== null && threshold.high_us !== null ? `, with 95 % between ${formatMicroseconds(threshold.low_us)} and ${formatMicroseconds(threshold.high_us)}` : ''}`
          : 'none'}
      </Fact>
      <Fact term="Domain">
        0 to {formatMicroseconds(version.domain_us)}; {formatShare(version.smallest)} is left there
      </Fact>
      {version.noise !== null && (
        <Fact term="Noise">{formatShare(version.noise)} of one sample, relative to the curve</Fact>
      )}
      {version.latency_offset_us > 0 && (
        <Fact term="Counted from">
          a round trip of {formatMicroseconds(version.latency_offset_us)}, the smallest one
        </Fact>
      )}
      <Fact term="Source">{version.source || 'not stated'}</Fact>
      {version.rows !== null && <Fact term="Rows">{formatCount(version.rows)}</Fact>}
      {made && (
        <Fact term={`Version ${version.number}`}>
          {version.made_by}, {formatMoment(made, clock)} {zoneName(clock, made)}
        </Fact>
      )}
    </dl>
  )
}

/** Four digits in groups of three: 990000 → "990 000", 17.14 → "17.14". */
function significant(value: number): string {
  return Number(value.toPrecision(4)).toLocaleString('en', { maximumFractionDigits: 6 }).replaceAll(',', '\u202f')
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return children === null ? null : (
    <>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </>
  )
}
