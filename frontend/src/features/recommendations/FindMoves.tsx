import { Button, Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { useFollowedJob } from '~/api/jobs'
import { meshesQuery } from '~/api/meshes'
import { useAskForMoves } from '~/api/recommendations'
import type { Job, RecommendationInput } from '~/api/types'
import { named } from '~/lib/options'
import { POLICIES, policyOf } from '~/lib/policies'
import { Choice } from '~/ui/Choice'
import { WordLink } from '~/ui/links'
import { NumberField } from '~/ui/NumberField'
import { Panel, pageStyles } from '~/ui/Page'
import { ActionError, Notice } from '~/ui/State'
import { Term } from '~/ui/Term'
import { useMissing } from '~/ui/useMissing'
import { Waiting } from '~/ui/Waiting'
import { artifactsOf, BringingFields } from './BringingFields'
import { OBJECTIVES, RISKS } from './names'
import styles from './recommendations.module.css'
import type { FindMovesSearch } from './search'
import { strings } from './strings'

const POLICY_OPTIONS = Object.entries(POLICIES).map(([value, { name }]) => ({ value, label: name }))

/** Request moves on a mesh, for an incident or for what is usual, follow the job, and open the recommendation. */
export function FindMoves({ search = {} }: { search?: FindMovesSearch }) {
  const { mesh, incident, application } = search
  const meshes = useQuery(meshesQuery)
  const ask = useAskForMoves()
  const [jobId, setJobId] = useState<string | null>(null)
  const [policy, setPolicy] = useState('best')
  const missing = useMissing({
    mesh: meshes.data ? null : strings.meshesLoading,
  })

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!missing.isComplete) return // the field says so
    const form = new FormData(event.currentTarget)
    const { artifacts, wrong } = artifactsOf(String(form.get('artifacts') ?? ''))
    if (wrong !== null) return // the field says so
    const bringing = String(form.get('bringing_cost') ?? '')
    ask.mutate(
      {
        mesh: String(form.get('mesh')),
        moves_max: Number(form.get('moves_max')),
        ...(incident ? { incident_id: incident } : { minutes: Number(form.get('minutes')) }),
        applications: application ? [application] : [],
        policy: form.get('policy') as RecommendationInput['policy'],
        risk: (form.get('risk') || null) as NonNullable<RecommendationInput['risk']> | null,
        explain: form.get('explain') !== null,
        artifacts,
        bringing_cost: bringing === '' ? null : Number(bringing) / 100,
        objective: (form.get('objective') || null) as NonNullable<RecommendationInput['objective']> | null,
      },
      { onSuccess: ({ id }) => setJobId(id) },
    )
  }

  if (meshes.data?.length === 0) {
    return (
      <Panel title={strings.findBetterPlacements}>
        <p className={pageStyles.lead}>
          {strings.noMeshYet} <Link to="/onboarding">{strings.addVm}</Link>
        </p>
      </Panel>
    )
  }
  return (
    <Panel title={strings.findBetterPlacements}>
      {incident && (
        <p className={pageStyles.lead}>
          {strings.forIncidentLead}{' '}
          <WordLink to="/incidents/$incidentId" params={{ incidentId: incident }}>
            {strings.incident}
          </WordLink>
        </p>
      )}
      <form onSubmit={submit} className={pageStyles.form}>
        <Choice
          name="mesh"
          label={strings.mesh}
          data={named(meshes.data)}
          key={`${mesh} ${meshes.data?.length}`}
          {...(mesh && { defaultValue: mesh })}
          error={missing.at('mesh')}
        />
        <Choice
          name="objective"
          label={<Term of="placement objective">{strings.objective}</Term>}
          none={strings.policyDefault}
          data={OBJECTIVES}
        />
        {policy === 'best' && (
          <Choice name="risk" label={<Term of="tail risk">{strings.risk}</Term>} none={strings.riskNone} data={RISKS} />
        )}
        <NumberField
          name="moves_max"
          label={<Term of="move budget">{strings.maximumMoves}</Term>}
          description={strings.zeroMoves}
          min={0}
          max={10_000}
          defaultValue={10}
          required
          w={160}
        />
        {!incident && (
          <NumberField
            name="minutes"
            label={<Term of="look-back">{strings.lookBackMinutes}</Term>}
            min={2}
            max={1_440}
            defaultValue={30}
            required
            w={150}
          />
        )}
        <Button type="submit" loading={ask.isPending} onClick={missing.onAttempt}>
          {strings.findMoves}
        </Button>
        <details className={styles.advanced}>
          <summary>{strings.advanced}</summary>
          <div className={pageStyles.form}>
            <Choice
              name="policy"
              label={<Term of="policy">{strings.policy}</Term>}
              data={POLICY_OPTIONS}
              value={policy}
              onChange={setPolicy}
            />
            {policy === 'best' && <BringingFields />}
            {policy === 'nomora' && <Checkbox name="explain" label={strings.includeArcs} />}
          </div>
        </details>
      </form>
      <p className={pageStyles.lead} aria-live="polite">
        {policyOf(POLICIES, policy).line}
      </p>
      <ActionError error={ask.error} />
      {jobId && <JobProgress key={jobId} jobId={jobId} />}
    </Panel>
  )
}

function JobProgress({ jobId }: { jobId: string }) {
  const navigate = useNavigate()
  const { job, error, waiting } = useFollowedJob(jobId)
  const recommendationId = job?.result?.recommendation_id
  useEffect(() => {
    if (typeof recommendationId === 'string') {
      void navigate({ to: '/recommendations/$recommendationId', params: { recommendationId: recommendationId } })
    }
  }, [recommendationId, navigate])
  if (error) return <ActionError error={error} />
  if (job?.problem) return <Problem problem={job.problem} />
  if (job?.state === 'cancelled') return <Notice tone="info">{strings.searchCancelled}</Notice>
  if (!waiting) return null
  return (
    <>
      <Waiting what={strings.searchLower} waiting={waiting} />
      {job?.note && <p className={pageStyles.lead}>{job.note}</p>}
    </>
  )
}

/** The reason of a failure, and the limits whose relaxation would help. */
function Problem({ problem }: { problem: NonNullable<Job['problem']> }) {
  const relax = Array.isArray(problem.relax) ? problem.relax.map(String) : []
  return (
    <Notice tone="bad">
      {problem.detail}
      {relax.length > 0 && ` ${strings.wouldHelp(relax.join('; '))}`}
    </Notice>
  )
}
