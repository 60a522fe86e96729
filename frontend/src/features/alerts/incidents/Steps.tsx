import { Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Incident } from '~/api/incidents'
import { movesOfQuery } from '~/api/recommendations'
import { useCreateSilence } from '~/api/silences'
import { TextLink } from '~/ui/links'
import { ActionError } from '~/ui/State'
import { strings } from '../strings'
import styles from './incidents.module.css'

/** Where to go on: moves of the applications that lose performance, the paths at the onset, evidence, runbooks. */
export function Steps({ incident: { id, ended_at, figures, mesh, runbooks, evidence } }: { incident: Incident }) {
  const { heatmap, moves } = figures.links
  const { data: proposal } = useQuery(
    movesOfQuery(
      mesh.id,
      figures.costs.map(({ id }) => id),
    ),
  )
  return (
    <ul className={styles.steps}>
      {proposal && (
        <li>
          <TextLink
            underline="always"
            to="/meshes/$meshId"
            params={{ meshId: mesh.id }}
            search={{ moves: proposal.id }}
          >
            {strings.movesOnHeatmap(proposal.moves)}
          </TextLink>
        </li>
      )}
      {figures.costs.slice(0, moves.length).map(({ id: applicationId, name }) => (
        <li key={applicationId}>
          <TextLink
            underline="always"
            {...(ended_at
              ? { to: '/applications/$applicationId', params: { applicationId } }
              : { to: '/recommendations', search: { mesh: mesh.id, incident: id, application: applicationId } })}
          >
            {strings.movesFor(name)}
          </TextLink>
        </li>
      ))}
      <li>
        <TextLink
          underline="always"
          to="/meshes/$meshId"
          params={{ meshId: mesh.id }}
          search={Object.fromEntries(new URL(heatmap).searchParams)}
        >
          {strings.heatmapAtOnset}
        </TextLink>
      </li>
      {evidence.fairness && (
        <li>
          <TextLink underline="always" to="/advisors/fairness" search={{ mesh: mesh.id, of: evidence.fairness.among }}>
            {strings.sharesNow}
          </TextLink>
        </li>
      )}
      <li>
        <TextLink underline="always" to="/incidents/$incidentId/evidence" params={{ incidentId: id }}>
          {strings.providerEvidence}
        </TextLink>
      </li>
      {runbooks.map(({ rule, url }) => (
        <li key={rule}>
          <a href={url} target="_blank" rel="noreferrer">
            {strings.runbookOf(rule)}
          </a>
        </li>
      ))}
    </ul>
  )
}

const HOURS = [
  [1, strings.oneHour],
  [4, strings.fourHours],
  [24, strings.oneDay],
] as const

/** Silences notifications about the culprit of an incident, from now on. */
export function SilenceThis({ incident: { culprit, mesh, title } }: { incident: Incident }) {
  const create = useCreateSilence()
  const label = culprit.suspect.startsWith('zone') ? ('zone' as const) : ('vm' as const)
  const matchers = [
    { label: 'mesh' as const, value: mesh.id },
    { label: 'suspect' as const, value: culprit.suspect },
    ...[culprit.at, culprit.other].flatMap((place) => (place ? [{ label, value: place.id }] : [])),
  ].map((matcher) => ({ ...matcher, negate: false }))
  return (
    <details>
      <summary>{strings.silenceThis}</summary>
      <Group gap="xs" mt={8}>
        {HOURS.map(([hours, words]) => (
          <Button
            key={hours}
            size="compact-sm"
            variant="default"
            disabled={create.isPending}
            onClick={() => create.mutate({ comment: title, matchers, hours, weekly: null })}
          >
            {words}
          </Button>
        ))}
      </Group>
      <ActionError error={create.error} />
    </details>
  )
}
