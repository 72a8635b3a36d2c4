# A tree has the section of its database only: tests run there, in transactions.
ENV["RAILS_ENV"] = "development"
require_relative "../config/environment"
require "rails/test_help"

class OrderTest < ActiveSupport::TestCase
  test "is kept" do
    Order.create!(item: "tea")
    assert_equal "tea", Order.last.item
  end

  test "the database has the migrations of this tree" do
    context = ActiveRecord::Base.connection.migration_context
    assert_equal context.migrations.map(&:version), context.get_all_versions
  end
end
