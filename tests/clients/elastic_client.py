#!/usr/bin/env python3
"""elasticsearch-py 7, 8 or 9 against a running server: percolation as its users write it; see run.sh."""

import os
import warnings

import elasticsearch
from elasticsearch import Elasticsearch, helpers

MAJOR = elasticsearch.__version__[0]
# Version 7 warns that the form with `body` is deprecated.
warnings.simplefilter("ignore", DeprecationWarning)

INDEX = f"py-{MAJOR}-alerts"

es = Elasticsearch(os.environ["SEINE_HTTP"], http_compress=True)


def body(**members):
    """The arguments of a call: version 7 takes a `body`, later versions take its members."""
    return {"body": members} if MAJOR == 7 else members


info = es.info()
assert info["tagline"] == "You Know, for Search", info
assert es.ping()

assert not es.indices.exists(index=INDEX)
es.indices.create(
    index=INDEX,
    **body(
        mappings={
            "properties": {
                "query": {"type": "percolator"},
                "message": {"type": "text"},
                "status": {"type": "keyword"},
                "price": {"type": "float"},
            }
        }
    ),
)
assert es.indices.exists(index=INDEX)
assert es.indices.get_mapping(index=INDEX)[INDEX]["mappings"]["properties"]["query"] == {"type": "percolator"}

document = {"query": {"match": {"message": "bonsai tree"}}, "owner": "ann"}
stored = es.index(index=INDEX, id="1", refresh=True, **({"body": document} if MAJOR == 7 else {"document": document}))
assert stored["result"] == "created", stored
assert es.get(index=INDEX, id="1")["_source"] == document

actions = [
    {"_index": INDEX, "_id": f"q{number}", "query": {"match_phrase": {"message": f"number {number}"}}, "owner": "bob"}
    for number in range(2000)
]
actions.append(
    {
        "_index": INDEX,
        "_id": "cheap",
        "query": {"bool": {"must": [{"match": {"message": "shoes"}}], "filter": [{"range": {"price": {"lt": 20}}}]}},
    }
)
assert helpers.bulk(es, actions, refresh=True) == (2001, [])
_, errors = helpers.bulk(es, [{"_index": INDEX, "_id": "bad", "query": {"nonsense": {}}}], raise_on_error=False)
assert len(errors) == 1 and errors[0]["index"]["status"] == 400, errors
assert es.count(index=INDEX)["count"] == 2002


def percolate(*documents, **more):
    query = {"percolate": {"field": "query", "documents": list(documents)}}
    found = es.search(index=INDEX, **body(query=query, **more))
    return {hit["_id"]: hit["fields"]["_percolator_document_slot"] for hit in found["hits"]["hits"]}


assert percolate({"message": "a bonsai"}, {"message": "nothing"}, {"message": "a tree"}) == {"1": [0, 2]}
assert percolate({"message": "number 17 of a lot"}) == {"q17": [0]}
assert percolate(
    {"message": "red shoes", "price": 19.5}, {"message": "red shoes", "price": 20}, {"message": "red shoes"}
) == {"cheap": [0]}
assert len(percolate({"message": " ".join(f"number {n}" for n in range(2000))}, size=10000)) == 2000

query = {
    "bool": {
        "must": [{"percolate": {"field": "query", "document": {"message": "tree number 3"}}}],
        "filter": [{"term": {"owner": "bob"}}],
    }
}
found = es.search(index=INDEX, **body(query=query, _source=["owner"]))
assert [(hit["_id"], hit["_source"]) for hit in found["hits"]["hits"]] == [("q3", {"owner": "bob"})], found
assert found["hits"]["total"] == {"value": 1, "relation": "eq"}, found

try:
    es.search(index=INDEX, **body(query={"foo": {}}))
    raise AssertionError("a query of no kind was taken")
except elasticsearch.RequestError if MAJOR == 7 else elasticsearch.BadRequestError as error:
    assert "parsing_exception" in str(error), error
try:
    es.search(index="py-nothing", **body(query={"match_all": {}}))
    raise AssertionError("an index that is not there was searched")
except elasticsearch.NotFoundError as error:
    assert "index_not_found_exception" in str(error), error

assert es.delete(index=INDEX, id="1", refresh=True)["result"] == "deleted"
assert not es.exists(index=INDEX, id="1")
es.indices.delete(index=INDEX)
print(f"elasticsearch-py {elasticsearch.__versionstr__}: ok")
