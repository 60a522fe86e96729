import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEdits } from '~/api/access'
import { artifactsQuery, useDeleteArtifact } from '~/api/artifacts'
import { serverNow } from '~/api/connection'
import { meshesQuery } from '~/api/meshes'
import type { Artifact, Mesh } from '~/api/types'
import { formatBytes } from '~/lib/bytes'
import { actOnRows } from '~/lib/inTurn'
import { quoted } from '~/lib/shell'
import { timeOf } from '~/lib/time'
import { NO_VALUE } from '~/lib/units'
import { Age } from '~/ui/Age'
import { CopyText } from '~/ui/CopyText'
import { useClock } from '~/ui/clock'
import { TextLink, WordLink } from '~/ui/links'
import { NoRows } from '~/ui/NoRows'
import { LoadingPage, Page, Panel, pageStyles } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { Failed, Notice } from '~/ui/State'
import { Distribution } from './Distribution'
import { strings } from './strings'

/** The published files, where they are distributed, and how to publish one. */
export function ArtifactsPage() {
  const artifacts = useQuery(artifactsQuery)
  const meshes = useQuery(meshesQuery)
  const error = artifacts.error ?? meshes.error
  if (error && !(artifacts.data && meshes.data)) {
    const retry = () => void Promise.all([artifacts.refetch(), meshes.refetch()])
    return <Failed what={strings.artifacts} error={error} retry={retry} />
  }
  if (!artifacts.data || !meshes.data) return <LoadingPage title={strings.artifacts} what={strings.artifactsLower} />
  return (
    <Page title={strings.artifacts} lead={strings.lead}>
      {artifacts.data.length === 0 ? (
        <Notice tone="info" title={strings.noArtifacts}>
          {strings.noArtifactsLead}
        </Notice>
      ) : (
        <ArtifactList artifacts={artifacts.data} meshes={meshes.data} />
      )}
      {meshes.data.length === 0 ? (
        <NoRows next={<Link to="/onboarding">{strings.addVm}</Link>}>{strings.noMeshes}</NoRows>
      ) : (
        <>
          <Publish mesh={meshes.data[0]?.name ?? ''} />
          <Distribution meshes={meshes.data} />
        </>
      )}
    </Page>
  )
}

function ArtifactList({ artifacts, meshes }: { artifacts: readonly Artifact[]; meshes: readonly Mesh[] }) {
  const clock = useClock()
  const edits = useEdits()
  const remove = useDeleteArtifact()
  const names = new Map(meshes.map(({ id, name }) => [id, name]))
  const meshOf = ({ mesh_id }: Artifact) => names.get(mesh_id) ?? NO_VALUE
  return (
    <RecordList
      label={strings.artifacts}
      rows={artifacts}
      id={({ id }) => id}
      bulk={
        edits && {
          nouns: [strings.artifactNoun, strings.artifactsLower],
          name: ({ name, release }) => `${name} ${release}`,
          actions: [actOnRows(strings.delete, remove, strings.deleteEffect)],
        }
      }
      columns={[
        {
          title: strings.name,
          cell: ({ id, name }) => (
            <TextLink to="/artifacts/$artifactId" params={{ artifactId: id }}>
              {name}
            </TextLink>
          ),
          as: 'head',
          by: { key: 'name', value: ({ name }) => name },
        },
        { title: strings.release, by: { key: 'release', value: ({ release }) => release } },
        { title: strings.mesh, by: { key: 'mesh', value: meshOf } },
        {
          title: strings.size,
          cell: ({ size_bytes }) => formatBytes(size_bytes),
          as: 'number',
          by: { key: 'size', value: ({ size_bytes }) => size_bytes },
        },
        {
          title: strings.copies,
          cell: ({ complete, copies }) => strings.complete(complete, copies),
          as: 'number',
          by: { key: 'copies', value: ({ complete, copies }) => (copies ? complete / copies : 0) },
        },
        {
          title: strings.published,
          cell: ({ created_at }) => <Age at={created_at} clock={clock} now={serverNow} />,
          as: 'quiet',
          by: { key: 'published', value: ({ created_at }) => timeOf(created_at) },
        },
      ]}
    />
  )
}

function Publish({ mesh }: { mesh: string }) {
  const at = `SINEMORA_API_KEY=$KEY sinemora artifacts publish FILE --mesh ${quoted(mesh)} --url ${window.location.origin}`
  return (
    <Panel title={strings.publish}>
      <p className={pageStyles.lead}>
        {strings.publishLead} <WordLink to="/api-keys">{strings.apiKeyLink}</WordLink> {strings.apiKeyScope}
      </p>
      <CopyText label={strings.publishCommand} text={at} />
      <p className={pageStyles.lead}>{strings.readLead}</p>
      <CopyText label={strings.readCommand} text="sinemora-transfer read FILE" />
    </Panel>
  )
}
