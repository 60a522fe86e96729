import { NativeSelect, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useAddMaster, zonesQuery } from '~/api/inventory'
import { Problem } from '~/lib/problem'
import { ActionForm } from '~/ui/ActionForm'
import { NumberField } from '~/ui/NumberField'
import { pageStyles } from '~/ui/Page'
import { strings } from './strings'

/** Add a machine without an agent: the agents of a mesh measure it through its IEEE 1588 master. */
export function NewMaster({ onDone }: { onDone: () => void }) {
  const { data: zones } = useQuery(zonesQuery)
  const add = useAddMaster()
  const field = (name: string) => (add.error instanceof Problem ? add.error.field(name) : undefined)

  function submit(form: FormData) {
    const text = (name: string) => String(form.get(name)).trim()
    add.mutate(
      {
        name: text('name'),
        zone_id: text('zone_id'),
        probe_address: text('probe_address'),
        responder: text('responder') === 'sptp' ? 'sptp' : 'ieee1588',
        ptp_domain: Number(text('ptp_domain')),
      },
      { onSuccess: onDone },
    )
  }

  return (
    <>
      <Text size="sm" className={pageStyles.quiet}>
        {strings.addMasterLead}
      </Text>
      <ActionForm onSubmit={submit} doing={add} action={strings.add}>
        <TextInput
          name="name"
          label={strings.name}
          placeholder={strings.masterNameExample}
          required
          error={field('name')}
          w={150}
        />
        <NativeSelect
          name="zone_id"
          label={strings.zone}
          required
          data={(zones ?? []).map((zone) => ({ value: zone.id, label: zone.name }))}
          error={field('zone_id')}
          w={150}
        />
        <TextInput
          name="probe_address"
          label={strings.address}
          placeholder="10.0.0.9"
          required
          error={field('probe_address')}
          w={150}
        />
        <NativeSelect
          name="responder"
          label={strings.ptpProtocol}
          data={[
            { value: 'ieee1588', label: strings.unicastNegotiation },
            { value: 'sptp', label: strings.sptp },
          ]}
          error={field('responder')}
          w={190}
        />
        <NumberField
          name="ptp_domain"
          label={strings.ptpDomain}
          min={0}
          max={127}
          defaultValue={0}
          required
          error={field('ptp_domain')}
          w={110}
        />
      </ActionForm>
    </>
  )
}
