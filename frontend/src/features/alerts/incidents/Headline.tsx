import { useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { serverNow } from '~/api/connection'
import type { Incident } from '~/api/incidents'
import { movesOfQuery } from '~/api/recommendations'
import { TripsGrid } from '~/charts/trips/TripsGrid'
import { noneAffected } from '~/lib/costs'
import { recurrenceSentence } from '~/lib/recurrence'
import { formatAge, formatShortMoment } from '~/lib/time'
import { formatDelay, formatSignedDelay } from '~/lib/units'
import { useClock } from '~/ui/clock'
import { TextLink } from '~/ui/links'
import { pageStyles } from '~/ui/Page'
import { SEVERITIES } from '~/ui/severity'
import { useNow } from '~/ui/useNow'
import { strings } from '../strings'
import { UNUSUAL_NS } from './impactWords'
import styles from './incidents.module.css'

/** The block that notices carry too: the change with its figures, since when, suspects, costs, and where to go on. */
export function Headline({ incident }: { incident: Incident }) {
  const clock = useClock()
  const now = useNow(1_000, serverNow)
  const { onset_at, ended_at, severity, state, figures } = incident
  const [change, ...others] = figures.sentences
  const moment = (at: string) => formatShortMoment(at, clock, now)
  const lasted = formatAge(Date.parse(ended_at ?? new Date(now).toISOString()) - Date.parse(onset_at))
  return (
    <section
      className={styles.headline}
      aria-label={strings.summary}
      data-tone={state === 'resolved' ? 'good' : SEVERITIES[severity].tone}
    >
      {change && (
        <p>
          <strong>{change}</strong>
        </p>
      )}
      <p>
        {ended_at
          ? strings.lastedFromTo(lasted, moment(onset_at), moment(ended_at))
          : strings.since(moment(onset_at), lasted)}{' '}
        {recurrenceSentence(incident.recurrence, incident.seen_at)}
        {ended_at && strings.figuresOf(moment(figures.at))}
      </p>
      <ul className={pageStyles.bullets}>
        {others.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
        {figures.costs.length === 0 && <li>{noneAffected}</li>}
      </ul>
      <Links incident={incident} />
      {figures.picture && <Where picture={figures.picture} />}
    </section>
  )
}

/** The change between zones, or between the VMs of one zone. */
function Where({ picture }: { picture: NonNullable<Incident['figures']['picture']> }) {
  const theme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const { by, names, unit, is_change: isChange, of } = picture
  const isLoss = unit === 'ratio'
  // Loss is coloured in percent: the scale of the grid begins at one.
  const values = picture.values.map((line) => line.map((value) => (isLoss && value !== null ? value * 100 : value)))
  const least = isLoss ? 1 : UNUSUAL_NS
  const worst = Math.max(0, ...values.flat().map((value) => value ?? 0))
  const inWords = (value: number | null | undefined) => {
    if (value === null || value === undefined) return strings.unknown
    if (isLoss) return strings.percentLost(value.toFixed(1))
    return isChange ? strings.fromUsual(formatSignedDelay(value)) : formatDelay(value)
  }
  const caption = strings.whereCaption(by, names.length, of)
  return (
    <figure className={styles.where}>
      <TripsGrid
        label={strings.whereSummary(caption, names.join(', '), inWords(worst))}
        names={names}
        values={values}
        range={[least, Math.max(2 * least, worst)]}
        theme={theme}
        describe={(row, column) => `${names[row]} → ${names[column]}: ${inWords(values[row]?.[column])}`}
      />
      <figcaption>{caption}</figcaption>
    </figure>
  )
}

/** Where to go on: the paths at the onset, moves of the applications that lose performance, runbooks. */
function Links({ incident: { figures, mesh, runbooks } }: { incident: Incident }) {
  const { heatmap, moves } = figures.links
  const { data: proposal } = useQuery(
    movesOfQuery(
      mesh.id,
      figures.costs.map(({ id }) => id),
    ),
  )
  return (
    <p className={styles.next}>
      <TextLink
        size="sm"
        underline="always"
        to="/meshes/$meshId"
        params={{ meshId: mesh.id }}
        search={Object.fromEntries(new URL(heatmap).searchParams)}
      >
        {strings.heatmapAtOnset}
      </TextLink>
      {proposal && (
        <TextLink
          size="sm"
          underline="always"
          to="/meshes/$meshId"
          params={{ meshId: mesh.id }}
          search={{ moves: proposal.id }}
        >
          {strings.movesOnHeatmap(proposal.moves)}
        </TextLink>
      )}
      {figures.costs.slice(0, moves.length).map(({ id, name }) => (
        <TextLink
          key={id}
          size="sm"
          underline="always"
          to="/applications/$applicationId"
          params={{ applicationId: id }}
        >
          {strings.movesFor(name)}
        </TextLink>
      ))}
      {runbooks.map(({ rule, url }) => (
        <a key={rule} href={url} target="_blank" rel="noreferrer">
          {strings.runbookOf(rule)}
        </a>
      ))}
    </p>
  )
}
