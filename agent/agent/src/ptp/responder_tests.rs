use super::*;

const NOW: RawTime = RawTime(0);

fn request(port: u16, sequence_id: u16) -> Message {
    Message {
        source: PortIdentity { clock: 7, port },
        sequence_id,
        correction: Correction(0),
        body: Body::DelayReq,
    }
}

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn responder() -> Responder {
    let mut responder = Responder::default();
    let peers = [
        (address("10.0.0.1:319"), 320),
        (address("10.0.0.2:5319"), 5320),
    ];
    responder.admit(peers.into_iter(), NOW);
    responder
}

/// Feeds sequence ids and returns the tally of the last answer.
fn tally_after(sequence_ids: &[u16]) -> Tally {
    let (mut responder, client) = (responder(), address("10.0.0.1:319"));
    let mut last = None;
    for (i, &sequence_id) in sequence_ids.iter().enumerate() {
        let now = RawTime(i as i64 * 10_000_000);
        if let Ok(answer) = responder.request(&request(1, sequence_id), client, now) {
            responder.synced(&answer);
            last = Some(answer);
        }
    }
    match responder
        .delay_resp(
            &last.unwrap(),
            PortIdentity { clock: 9, port: 1 },
            5,
            None,
            None,
        )
        .unwrap()
        .body
    {
        Body::DelayResp { tally, .. } => tally.unwrap(),
        body => panic!("{body:?}"),
    }
}

#[test]
fn only_peers_of_the_plan_are_answered() {
    let mut responder = responder();
    let ask = |responder: &mut Responder, from: &str| {
        responder.request(&request(1, 1), address(from), NOW)
    };
    assert_eq!(ask(&mut responder, "10.0.0.3:319"), Err(Refusal::Stranger));
    assert_eq!(
        ask(&mut responder, "10.0.0.1:319").unwrap().general(),
        address("10.0.0.1:320")
    );
    // Another source port of a peer is another flow of it.
    let answer = ask(&mut responder, "10.0.0.2:40000").unwrap();
    assert_eq!(
        (answer.client, answer.general()),
        (address("10.0.0.2:40000"), address("10.0.0.2:5320"))
    );
    responder.admit([(address("10.0.0.2:5319"), 5320)].into_iter(), NOW);
    assert_eq!(ask(&mut responder, "10.0.0.1:319"), Err(Refusal::Stranger));
}

/// Two agents behind one address: a flow's source port is in no plan, so its name tells whose it is.
#[test]
fn flows_are_of_the_peer_that_asks_by_their_name_and_share_its_counts() {
    let mut responder = Responder::default();
    let peers = ["10.0.0.1:319", "10.0.0.1:5319"].map(address);
    responder.admit(peers.into_iter().zip([320, 5320]), NOW);
    let flow = address("10.0.0.1:40000");
    let unknown = responder.request(&request(3, 8), flow, NOW);
    assert_eq!(unknown, Err(Refusal::Stranger));
    responder.request(&request(3, 9), peers[1], NOW).unwrap();
    let answer = responder.request(&request(3, 10), flow, NOW).unwrap();
    assert_eq!(
        (answer.client, answer.general()),
        (flow, address("10.0.0.1:5320"))
    );
    responder.synced(&answer);
    let source = PortIdentity { clock: 9, port: 1 };
    let body = responder
        .delay_resp(&answer, source, 5, None, None)
        .unwrap()
        .body;
    let Body::DelayResp { tally, .. } = body else {
        panic!("{body:?}")
    };
    let tally = tally.unwrap();
    assert_eq!((tally.requests, tally.syncs, tally.arrived), (2, 1, 0b11));
}

#[test]
fn counts_go_on_when_the_plan_changes_around_a_peer() {
    let (mut responder, client) = (responder(), address("10.0.0.1:319"));
    responder.request(&request(1, 1), client, NOW).unwrap();
    responder.admit(
        [(client, 320), (address("10.0.0.9:319"), 320)].into_iter(),
        NOW,
    );
    let answer = responder.request(&request(1, 2), client, NOW).unwrap();
    let message = responder
        .delay_resp(&answer, PortIdentity { clock: 9, port: 1 }, 5, None, None)
        .unwrap();
    let Body::DelayResp {
        tally: Some(tally), ..
    } = message.body
    else {
        panic!()
    };
    assert_eq!((tally.requests, tally.syncs), (2, 0));
}

#[test]
fn tells_exactly_what_arrived() {
    // Received in this order; 3 and 6 are missing, 4 came twice, 5 overtook 4.
    let tally = tally_after(&[1, 2, 5, 4, 4, 7]);
    let told: Vec<_> = (0..9).map(|id| tally.arrived(id)).collect();
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(told, [None, yes, yes, no, yes, yes, no, yes, None]);
    assert_eq!((tally.requests, tally.syncs, tally.newest), (5, 5, 7));
}

#[test]
fn sequence_ids_run_over() {
    let tally = tally_after(&[65_534, 65_535, 1]);
    let told: Vec<_> = [65_533, 65_534, 65_535, 0, 1, 2]
        .map(|id| tally.arrived(id))
        .into();
    assert_eq!(
        told,
        [None, Some(true), Some(true), Some(false), Some(true), None]
    );
}

#[test]
fn the_map_reaches_128_back_and_no_further() {
    let all: Vec<u16> = (100..400).collect();
    let tally = tally_after(&all);
    assert_eq!(
        (tally.newest, tally.watched, tally.arrived),
        (399, 128, u128::MAX)
    );
    assert_eq!((tally.arrived(272), tally.arrived(271)), (Some(true), None));
    let tally = tally_after(&[100, 1000]);
    assert_eq!((tally.watched, tally.arrived, tally.requests), (128, 1, 2));
}

#[test]
fn a_straggler_from_long_ago_changes_nothing() {
    let mut ids: Vec<u16> = (1000..1200).collect();
    let before = tally_after(&ids);
    ids.push(1001);
    assert_eq!(tally_after(&ids), before);
}

#[test]
fn a_client_that_starts_anew_is_counted_anew() {
    let (mut responder, client) = (responder(), address("10.0.0.1:319"));
    responder.request(&request(1, 500), client, NOW).unwrap();
    let answer = responder.request(&request(2, 3), client, NOW).unwrap();
    let message = responder
        .delay_resp(&answer, PortIdentity { clock: 9, port: 1 }, 5, None, None)
        .unwrap();
    let Body::DelayResp {
        tally: Some(tally), ..
    } = message.body
    else {
        panic!()
    };
    assert_eq!((tally.requests, tally.watched, tally.newest), (1, 1, 3));
}

#[test]
fn nobody_gets_more_answers_than_a_mesh_can_ask_for() {
    let (mut responder, client) = (responder(), address("10.0.0.1:319"));
    let answered = (0..20_000)
        .filter(|&i| {
            responder
                .request(&request(1, i), client, RawTime(i64::from(i) * 50_000))
                .is_ok()
        })
        .count();
    assert!((2048..=4100).contains(&answered), "{answered} in a second");
}

#[test]
fn nothing_is_said_about_what_came_before_an_overflow() {
    let (mut responder, client) = (responder(), address("10.0.0.1:319"));
    for sequence_id in 0..5 {
        responder
            .request(&request(1, sequence_id), client, NOW)
            .unwrap();
    }
    responder.forget();
    let answer = responder.request(&request(1, 9), client, NOW).unwrap();
    let message = responder
        .delay_resp(&answer, PortIdentity { clock: 9, port: 1 }, 5, None, None)
        .unwrap();
    let Body::DelayResp {
        tally: Some(tally), ..
    } = message.body
    else {
        panic!()
    };
    assert_eq!((tally.arrived(9), tally.arrived(8)), (Some(true), None));
}

#[test]
fn who_asks_again_soon_is_told_in_the_next_answers_when_the_syncs_before_left() {
    let (mut responder, client) = (responder(), address("10.0.0.1:319"));
    let source = PortIdentity { clock: 9, port: 1 };
    let ask = |responder: &mut Responder, sequence_id: u16| {
        let message = Message {
            body: Body::LeanReq { soon: true },
            ..request(1, sequence_id)
        };
        let answer = responder.request(&message, client, NOW).unwrap();
        assert_eq!(answer.form, Form::Later);
        responder.synced(&answer);
        let times = (0, 1_000 * i64::from(sequence_id));
        let sync = responder.answer(&answer, source, times, None).unwrap();
        let Body::Answer { reply, tally, .. } = sync.body else {
            panic!("{sync:?}");
        };
        assert_eq!(
            (reply.receive_ns, reply.requester),
            (times.1, message.source)
        );
        (answer, reply.earlier().collect::<Vec<_>>(), tally)
    };
    let (first, earlier, tally) = ask(&mut responder, 1);
    assert_eq!((earlier, tally.requests, tally.syncs), (vec![], 1, 1));
    responder.left(&first, 1_007);
    let (second, earlier, _) = ask(&mut responder, 2);
    assert_eq!(earlier, [(1, 1_007)]);
    // The second could not be sent.
    responder.withdraw(&second);
    let (_, earlier, tally) = ask(&mut responder, 3);
    assert_eq!(earlier, [(1, 1_007)]);
    assert_eq!((tally.requests, tally.syncs), (3, 2));
}
