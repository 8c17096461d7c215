"""Failures whose kind tells a person what to do, in the words of several providers."""

from __future__ import annotations

import pytest

from hybridwrap.domain.engine_run import Diagnostic
from hybridwrap.domain.failure_kinds import IN_USE, kind_of, taken_in, there_already


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("creating IAM Role (shop): EntityAlreadyExists: Role with name shop already exists.", True),
        ("creating S3 Bucket: BucketAlreadyOwnedByYou: Your previous request to create the named bucket", True),
        ("creating Security Group: InvalidGroup.Duplicate: The security group 'web'", True),
        ('A resource with the ID "/subscriptions/x" already exists - to be managed via Terraform', True),
        ("this resource needs to be imported into the State", True),
        ("googleapi: Error 409: The resource 'x' already exists, alreadyExists", True),
        ("configmaps 'shop' already exists", True),
        ("Throttling: Rate exceeded", False),
        ("duplicate argument in the request", False),
        ("deleting S3 Bucket: BucketNotEmpty: StatusCode: 409", False),
    ],
)
def test_what_is_there_already_is_known_by_the_words_of_many_providers(said: str, there: bool) -> None:
    error = Diagnostic("error", said, address="aws_it.this")
    assert there_already([error]) == (("aws_it.this",) if there else ())


def test_what_to_type_is_quoted_for_the_shell() -> None:
    error = Diagnostic("error", "EntityAlreadyExists", address='aws_iam_role.this["a b"]')
    assert taken_in("vm", [error]).startswith("""hybridwrap tf vm -- import 'aws_iam_role.this["a b"]' ID """)
    assert taken_in("vm", [Diagnostic("error", "EntityAlreadyExists")]) == "", "of which object nobody knows"


def test_what_can_not_be_deleted_yet_is_in_use() -> None:
    assert kind_of([Diagnostic("error", "deleting VPC", "DependencyViolation: it has dependencies")]) == IN_USE
