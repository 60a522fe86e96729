import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEdits } from '~/api/access'
import { useCreateZone, useDeleteZone, vmsQuery, zonesQuery } from '~/api/inventory'
import type { Zone } from '~/api/types'
import { actOnRows } from '~/lib/inTurn'
import { fieldsOf } from '~/lib/problem'
import { formatCount } from '~/lib/units'
import { ActionForm } from '~/ui/ActionForm'
import { CreateDrawer } from '~/ui/CreateDrawer'
import { WordLink } from '~/ui/links'
import { NoRows } from '~/ui/NoRows'
import { Page, pageStyles } from '~/ui/Page'
import { RecordList } from '~/ui/RecordList'
import { Unloaded } from '~/ui/Unloaded'
import { strings } from './strings'

/** Zones. Agents report their zone when they enrol; a person can also add one. */
export function ZonesPage() {
  const zones = useQuery(zonesQuery)
  const { data: vms } = useQuery(vmsQuery)
  const remove = useDeleteZone()
  const edits = useEdits()
  if (!zones.data) {
    return <Unloaded query={zones} title={strings.zones} what={strings.zonesLower} failed={strings.zones} />
  }
  const count = (zone: Zone) => vms?.filter((vm) => vm.zone.id === zone.id).length
  return (
    <Page
      title={strings.zones}
      lead={strings.zonesLead}
      action={edits && <CreateDrawer label={strings.addZone}>{(close) => <NewZone onDone={close} />}</CreateDrawer>}
    >
      {zones.data.length === 0 ? (
        <NoRows next={<WordLink to="/onboarding">{strings.addVm}</WordLink>}>{strings.noZones}</NoRows>
      ) : (
        <RecordList
          label={strings.zones}
          rows={zones.data}
          id={(zone) => zone.id}
          bulk={
            edits && {
              nouns: [strings.zoneNoun, strings.zonesLower],
              name: ({ name }) => name,
              actions: [actOnRows(strings.delete, remove, strings.deleteZonesEffect)],
            }
          }
          columns={[
            { title: strings.zone, as: 'head', by: { key: 'name', value: (zone) => zone.name } },
            { title: strings.region, by: { key: 'region', value: (zone) => zone.region } },
            { title: strings.provider, by: { key: 'provider', value: (zone) => zone.provider } },
            {
              title: strings.physicalId,
              cell: (zone) => zone.physical_id ?? <span className={pageStyles.quiet}>{strings.unknown}</span>,
            },
            {
              title: strings.vms,
              cell: (zone) => formatCount(count(zone)),
              as: 'number',
              by: { key: 'vms', value: count },
            },
          ]}
        />
      )}
    </Page>
  )
}

function NewZone({ onDone }: { onDone: () => void }) {
  const create = useCreateZone()
  const field = fieldsOf(create)

  function submit(form: FormData) {
    const text = (name: string) => String(form.get(name)).trim()
    create.mutate(
      {
        provider: text('provider'),
        region: text('region'),
        name: text('name'),
        physical_id: text('physical_id') || null,
      },
      { onSuccess: onDone },
    )
  }

  return (
    <ActionForm onSubmit={submit} doing={create} action={strings.add}>
      <TextInput
        {...field('provider')}
        label={strings.provider}
        placeholder={strings.providerExample}
        required
        w={120}
      />
      <TextInput {...field('region')} label={strings.region} placeholder={strings.regionExample} required w={150} />
      <TextInput {...field('name')} label={strings.zone} placeholder={strings.zoneExample} required w={150} />
      <TextInput {...field('physical_id')} label={strings.physicalId} placeholder={strings.physicalIdExample} w={150} />
    </ActionForm>
  )
}
