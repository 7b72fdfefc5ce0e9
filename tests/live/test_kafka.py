"""Kafka as a source, with librdkafka's mock cluster: positions, poison, partitions, retention, brokers that go away."""

import json
from itertools import count, islice

import pyarrow as pa
import pytest

pytest.importorskip("confluent_kafka")

from kafka_cluster import Cluster
from kafka_service import Here
from live_rows import close
from supersample.errors import InputError
from supersample.live.batch import Batch, RefusedError, Unread
from supersample.live.settings import Limits
from supersample.live.sources import Context, SourceError, kafka
from supersample.live.sources.messages import Message, Reader

NUMBERS = count()


@pytest.fixture(scope="module")
def cluster():
    found = Cluster()
    yield found
    found.close()


@pytest.fixture
def topic(cluster, request):
    """A topic of two partitions."""
    name = f"{request.node.originalname[:40]}-{next(NUMBERS)}"
    cluster.create(name, 2)
    return name


class Source:
    """A source of a topic, and what it has told."""

    def __init__(self, cluster, topics, schema=None, look=30.0, **options):
        self.cluster, self.topics = cluster, [topics] if isinstance(topics, str) else topics
        self.told = []
        context = Context("log", Here(), Limits(), lambda: schema, self.told.append)
        settings = kafka.kafka_settings({"servers": cluster.servers, "topics": topics, **options})
        self.source = kafka.Kafka(settings, context, look)

    def steps(self, position=None, more=0):
        """Return steps to the end of all partitions; `more`: of times without a step after that."""
        found, steps = [], self.source.steps(position)
        for step in islice(steps, 1_000):
            found += [] if step is None else [step]
            if step is None and self.at_end((found[-1].position if found else position) or {}):
                more -= 1
                if more < 0:
                    break
        steps.close()
        return found

    def at_end(self, position):
        ends = {key: end for key, end in self.cluster.ends.items() if key[0] in self.topics}
        return all(position.get(topic, {}).get(str(number), 0) >= end for (topic, number), end in ends.items())


def lines(start, end):
    return [json.dumps({"x": each, "y": each / 2}).encode() for each in range(start, end)]


def read(messages, **options):
    return list(Reader(Context("log", Here(), Limits(), lambda: None), "ndjson", **options).batches(messages, {}))


def arrived(steps):
    """The next step that is one: a broker may need a moment for the first messages."""
    return next(step for step in steps if step is not None)


def values(steps, column="x"):
    return [each for step in steps if isinstance(step, Batch) for each in step.table[column].to_pylist()]


def test_every_message_is_a_row_and_a_restart_goes_on_at_the_position(cluster, topic):
    cluster.produce(topic, lines(0, 30), 0)
    cluster.produce(topic, lines(30, 50), 1)
    steps = Source(cluster, topic).steps()
    assert sorted(values(steps)) == list(range(50))
    assert steps[-1].position == {topic: {"0": 30, "1": 20}}
    cluster.produce(topic, lines(50, 55), 1)
    again = Source(cluster, topic).steps(steps[-1].position)
    assert values(again) == list(range(50, 55))
    assert again[-1].position == {topic: {"0": 30, "1": 25}}


def test_the_same_messages_have_the_same_id_and_others_another():
    messages = [Message("t", offset % 2, offset, value, 0) for offset, value in enumerate(lines(0, 20))]
    assert [read(messages)[0].id, read(messages)[0].id] == ["t:0:0-18,t:1:1-19"] * 2
    assert len({read(messages[start:end])[0].id for start in range(4) for end in range(10, 14)}) == 16


def test_several_topics_are_one_source(cluster, topic):
    cluster.create(topic + "-b", 1)
    cluster.produce(topic, lines(0, 3), 1)
    cluster.produce(topic + "-b", lines(3, 5))
    steps = Source(cluster, [topic, topic + "-b"]).steps()
    assert sorted(values(steps)) == list(range(5))
    assert steps[-1].position == {topic: {"0": 0, "1": 3}, topic + "-b": {"0": 2}}


@pytest.mark.parametrize("poison", [b"oh", b"[1, 2]", b"", b'{"x": "far"}', b'{"x": 1, "y": 2', b"\xff\xfe", b"3"])
def test_poison_is_set_aside_and_the_rest_goes_on(cluster, topic, poison):
    cluster.produce(topic, [*lines(0, 20), poison, *lines(20, 40), b', "z": 3}', *lines(40, 41)], 0)
    steps = Source(cluster, topic, pa.schema({"x": pa.float64(), "y": pa.float64()})).steps()
    assert values(steps) == list(range(41))
    aside = [step for step in steps if isinstance(step, Unread)]
    assert [step.content for step in aside] == [poison, b', "z": 3}']
    assert [step.id for step in aside] == [f"{topic}:0:20-20", f"{topic}:0:41-41"]
    assert all(step.reason.startswith(f"message {offset} of partition 0 of {topic!r}: ")
               for step, offset in zip(aside, (20, 41), strict=True))  # fmt: skip
    assert steps[-1].position == {topic: {"0": 43, "1": 0}}


def test_a_value_of_several_lines_is_several_rows_and_one_row_may_have_several_lines(cluster, topic):
    cluster.produce(topic, [b"\n".join(lines(0, 3)), *lines(3, 5)], 0)
    cluster.produce(topic, [b'{\n"x": 5,\n"y": 2.5\n}', *lines(6, 7)], 1)
    assert sorted(values(Source(cluster, topic).steps())) == list(range(7))


def test_rows_that_the_history_refuses_are_set_aside_one_by_one(opened):
    """A message that can be read, but has another column, does not take those beside it along."""
    topic = "t"
    stream = opened(time=None, every=10)
    stream.start()
    stream.take(Batch("first", pa.table({"x": [1.0], "y": [2.0]}))).result(60)
    messages = [*lines(0, 50), b'{"x": 1, "z": 2}', *lines(50, 99)]
    (step,) = read([Message(topic, 0, offset, value, 0) for offset, value in enumerate(messages)])
    with pytest.raises(RefusedError, match="'z'"):
        stream.take(step).result(60)
    assert stream.history.n_seen == 100
    (aside,) = stream.ledger.aside()
    assert aside["id"] == f"{topic}:0:50-50"
    assert "'z'" in aside["reason"]
    assert stream.ledger.positions() == {"log": {topic: {"0": 100}}}
    close(stream)
    assert opened(time=None, every=10).history.n_seen == 100


def test_tombstones_are_passed_over(cluster, topic):
    cluster.produce(topic, [*lines(0, 2), None, *lines(2, 3), None], 0)
    assert values(Source(cluster, topic).steps()) == [0, 1, 2]


def test_csv_has_its_columns_from_the_options(cluster, topic):
    cluster.produce(topic, [b"1,a", b"2", b"3,c", b'4,"d', b"5,e", b"6,f"], 0)
    steps = Source(cluster, topic, format="csv", columns=["x", "kind"]).steps()
    assert [each for each in values(steps) if each != 4] == [1, 3, 5, 6]
    assert {"a", "c", "e", "f"} <= set(values(steps, "kind"))
    assert next(step.content for step in steps if isinstance(step, Unread)) == b"2"


def test_a_message_of_arrow_is_a_batch(cluster, topic):
    def stream(start):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, pa.schema({"x": pa.int64()})) as writer:
            writer.write_table(pa.table({"x": range(start, start + 3)}))
        return sink.getvalue().to_pybytes()

    cluster.produce(topic, [stream(0), b"no table", stream(3)], 0)
    steps = Source(cluster, topic, format="arrow").steps()
    assert values(steps) == list(range(6))
    assert [type(step) for step in steps] == [Batch, Unread, Batch]


def test_the_time_of_a_message_becomes_a_column(cluster, topic):
    cluster.produce(topic, lines(0, 2), 0, timestamp=1_772_409_600_000)
    cluster.produce(topic, [b"\n".join(lines(2, 4))], 0, timestamp=1_772_409_601_000)
    steps = Source(cluster, topic, timestamp="sent").steps()
    assert [str(each)[:19] for each in values(steps, "sent")] == ["2026-03-02 00:00:00"] * 2 + ["2026-03-02 00:00:01"] * 2
    (refused,) = [step for step in Source(cluster, topic, timestamp="x").steps() if isinstance(step, Unread)][:1]
    assert "has a column 'x' of its own" in refused.reason


def test_partitions_that_appear_later_are_said_and_read_from_their_beginning(cluster, topic, monkeypatch):
    cluster.produce(topic, lines(0, 5), 0)
    cluster.produce(topic, lines(5, 9), 1)
    source = Source(cluster, topic, look=0.0, start="end")
    assert sorted(values(source.steps({topic: {"0": 3}}))) == [3, 4, *range(5, 9)]  # it appeared while the service was away
    assert source.told == [f"partition 1 of {topic!r} is new, and is read from its beginning"]
    source, looks, every = Source(cluster, topic, look=0.0), [], kafka.Kafka._partitions

    def grows(self, client):
        looks.append(1)
        return every(self, client)[: 1 + (len(looks) > 3)]

    monkeypatch.setattr(kafka.Kafka, "_partitions", grows)
    assert sorted(values(source.steps())) == list(range(9))
    assert source.told == [f"partition 1 of {topic!r} is new, and is read from its beginning"]


def test_a_stream_may_begin_at_the_end(cluster, topic):
    cluster.produce(topic, lines(0, 5), 0)
    steps = Source(cluster, topic, start="end").source.steps(None)
    assert next(steps) is None
    cluster.produce(topic, lines(5, 7), 0)
    found = [step for step in islice(steps, 20) if step is not None]
    assert values(found) == [5, 6]
    assert found[-1].position == {topic: {"0": 7, "1": 0}}
    steps.close()


def test_messages_that_kafka_removed_are_counted_and_said(cluster, topic, opened):
    if not cluster.has("partition_delete_records"):
        pytest.skip("this librdkafka cannot remove messages of its mock cluster")
    cluster.produce(topic, lines(0, 30), 0)
    cluster.produce(topic, lines(30, 60), 1)
    cluster.forget(topic, 0, 20)
    cluster.forget(topic, 1, 25)
    assert sorted(values(Source(cluster, topic).steps())) == [*range(20, 30), *range(55, 60)]  # nothing was read of it before
    steps = Source(cluster, topic).steps({topic: {"0": 5, "1": 24}})
    assert [(step.id, step.position[topic]) for step in steps[:2]] == [
        (f"lost {topic}:0:5-19", {"0": 20, "1": 24}), (f"lost {topic}:1:24-24", {"0": 20, "1": 25}),
    ]  # fmt: skip
    assert steps[0].reason.startswith(f"15 messages of partition 0 of {topic!r} (offsets 5 to 19) were removed by Kafka")
    stream = opened(drop=["who"])
    stream.start()
    with pytest.raises(RefusedError) as refused:
        stream.take(steps[0]).result(60)
    assert refused.value.kept == stream.ledger.aside()[0]["reason"] == steps[0].reason  # it holds nothing of a message
    assert sorted(values(steps)) == [*range(20, 30), *range(55, 60)]


def test_messages_that_are_removed_while_it_reads_end_the_turn_and_are_said_in_the_next(cluster, topic):
    if not cluster.has("partition_delete_records"):
        pytest.skip("this librdkafka cannot remove messages of its mock cluster")
    cluster.produce(topic, lines(0, 5), 0)
    source = Source(cluster, topic)
    steps = source.source.steps(None)
    position = arrived(steps).position
    cluster.forget(topic, 0, 5)
    cluster.produce(topic, lines(5, 10), 0)
    assert values(islice((step for step in steps if step is not None), 1)) == list(range(5, 10))
    steps.close()
    cluster.forget(topic, 0, 8)
    (lost, rest) = source.steps(position)
    assert lost.id == f"lost {topic}:0:5-7"
    assert values([rest]) == [8, 9]


def test_a_topic_that_was_made_again_is_refused(cluster, topic):
    cluster.produce(topic, lines(0, 5), 0)
    with pytest.raises(
        SourceError, match=r"partition 0 of .* ends at offset 5, and was read up to 9: the topic was made again"
    ):
        Source(cluster, topic).steps({topic: {"0": 9}})


def test_a_topic_that_is_not_there_is_said(cluster):
    with pytest.raises(SourceError, match="topic 'nowhere'"):
        Source(cluster, "nowhere").steps()


def test_a_broker_that_goes_away_is_said_and_the_rest_comes_when_it_is_back():
    cluster = Cluster()
    try:
        cluster.create("t")
        cluster.produce("t", lines(0, 5))
        source = Source(cluster, "t")
        steps = source.source.steps(None)
        position = arrived(steps).position
        cluster.set_down()
        with pytest.raises(SourceError, match="brokers are down"):
            list(islice(steps, 100))
        with pytest.raises(SourceError, match="Kafka: "):
            source.steps(position)
        cluster.set_up()
        cluster.produce("t", lines(5, 8))
        assert values(source.steps(position)) == [5, 6, 7]
    finally:
        cluster.close()


def test_a_group_gets_the_durable_offsets_for_others_to_see(cluster, topic):
    from confluent_kafka import Consumer, TopicPartition

    cluster.produce(topic, lines(0, 5), 0)
    source = Source(cluster, topic, group="watchers", look=0.0)
    source.steps(more=2)
    reader = Consumer({"bootstrap.servers": cluster.servers, "group.id": "watchers"})
    assert [each.offset for each in reader.committed([TopicPartition(topic, 0), TopicPartition(topic, 1)], 10)] == [5, 0]
    reader.close()


def test_a_group_by_which_others_read_is_refused(cluster, topic):
    from confluent_kafka import Consumer

    other = Consumer({"bootstrap.servers": cluster.servers, "group.id": "theirs"})
    other.subscribe([topic])
    try:
        for _ in range(1_200):
            other.poll(0.1)
            if other.assignment():
                break
        assert len(other.assignment()) == 2
        with pytest.raises(
            SourceError, match="the group 'theirs' has other consumers; this source takes all partitions itself"
        ):
            Source(cluster, topic, group="theirs").steps(more=2)
        cluster.produce(topic, lines(0, 5), 0)
        assert values(Source(cluster, topic).steps()) == list(range(5))  # without it, nobody is in the way of anybody
    finally:
        other.close()


def test_values_are_read_together_up_to_a_size():
    messages = [Message("t", 0, offset, value, 0) for offset, value in enumerate(lines(0, 20))]
    steps = read(messages, largest=100)
    assert len(steps) > 3
    assert values(steps) == list(range(20))
    assert [step.position["t"]["0"] for step in steps] == [int(step.id.rpartition("-")[2]) + 1 for step in steps]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"topics": []}, "topics must be the name of a topic, or a list of names, got"),
        ({"topics": "^rides.*"}, "a pattern needs a rebalance"),
        ({"topics": ["a", "a"]}, "each topic once"),
        ({"format": "avro"}, "format must be one of ndjson, csv, arrow, parquet, got 'avro'"),
        ({"format": "csv"}, "columns must be a list of names where format is 'csv'"),
        ({"columns": ["x"]}, "columns must be left out"),
        ({"start": "latest"}, "start must be 'beginning' or 'end'"),
        ({"server": "a:1"}, "no option 'server'; did you mean 'servers'"),
        ({"servers": ""}, "must have servers"),
        ({"servers": 3}, "servers must be a text"),
        ({"settings": []}, "settings must be a table"),
        ({"settings": {"sasl.password": "hush"}}, "settings must hold no secrets, got 'sasl.password'"),
        ({"settings": {"group.instance.id": "a"}}, "'group.instance.id' must be left out: partitions are assigned"),
        ({"settings": {"enable.auto.commit": True}}, "offsets are kept with the rows"),
        ({"settings": {"bootstrap.servers": "b:1"}}, "give it as servers"),
        ({"settings_env": {"sasl.password": "SUPERSAMPLE_NOT_SET"}}, "'SUPERSAMPLE_NOT_SET', which settings_env names"),
        ({"settings": {"no.such.setting": "1"}}, 'No such configuration property: "no.such.setting"'),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options, told):
    with pytest.raises(InputError) as caught:
        kafka.source({"servers": "localhost:1", "topics": "t", **options}, Context("log", Here(), Limits(), lambda: None))
    assert told in str(caught.value)
    assert "hush" not in str(caught.value)


def test_secrets_come_from_a_file_or_the_environment_and_are_not_shown(tmp_path):
    path = tmp_path / "client.properties"
    path.write_text("# ours\nbootstrap.servers = b:1\nsasl.username=me\n\nsasl.password=hush=hush\n")
    options = {"topics": "t", "settings_file": str(path), "settings_env": {"ssl.key.password": "KEY"}}
    found = kafka.kafka_settings(options, {"KEY": "quiet"})
    assert found.client["bootstrap.servers"] == "b:1"
    assert (found.client["sasl.password"], found.client["ssl.key.password"]) == ("hush=hush", "quiet")
    assert "hush" not in repr(found)
    assert "quiet" not in repr(found)
    path.write_text("sasl.password hush\n")
    with pytest.raises(InputError, match="line 1 is not") as caught:
        kafka.kafka_settings(options, {"KEY": "quiet"})
    assert "hush" not in str(caught.value)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(kafka, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'supersample\[kafka\]'"):
        kafka.source({"servers": "b:1", "topics": "t"}, Context("log", Here(), Limits(), lambda: None))
